#!/bin/sh
# A busy server: nginx under wrk, attached, traced, and left alone again, thirty times; a hundred times where RINGSIDE_LONG is set.
# No request is lost, and the server goes on.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

with_functions
PATH=$PATH:/usr/sbin
for peer in nginx wrk; do
	command -v $peer >/dev/null || {
		echo "SKIP: $peer is not installed"
		exit 77
	}
done
cd "$RINGSIDE_SCRATCH" || exit 1
mkdir -p www logs
echo 'hello, world' >www/index.html
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nginx.conf <<END
daemon off;
master_process off;
pid $PWD/pid;
error_log $PWD/logs/error.log;
events { worker_connections 256; }
http {
	access_log off;
	client_body_temp_path $PWD/a; proxy_temp_path $PWD/b; fastcgi_temp_path $PWD/c; uwsgi_temp_path $PWD/d; scgi_temp_path $PWD/e;
	server { listen 127.0.0.1:$port; location / { root $PWD/www; } }
}
END
nginx -c "$PWD/nginx.conf" -p "$PWD" >"$out" 2>"$err" &
server=$!
trap 'kill $server $load 2>/dev/null' EXIT
load=
tries=0
while [ ! -s pid ]; do
	tries=$((tries + 1))
	[ $tries -lt 100 ] || fail "nginx does not start"
	sleep 0.1
done
# Until it is told to stop: however long the rounds take.
wrk -t1 -c8 -d600 "http://127.0.0.1:$port/" >wrk.out 2>&1 &
load=$!
round=0
[ -n "${RINGSIDE_LONG-}" ] && rounds=100 || rounds=30
while [ $round -lt $rounds ]; do
	round=$((round + 1))
	want 0 attach $server
	tracer=function_graph
	[ $((round % 2)) -eq 0 ] || tracer=function
	want 0 start -p $tracer
	want 0 detach $server
	want 0 start -p nop
done
want 0 attach $server
want 0 start -p function_graph
sleep 0.3
want 0 stop
want 0 cat trace
grep -q 'epoll_wait' "$out" || fail "what the server does is not traced"
want 0 detach $server
kill -0 $server || fail "the server died"
kill -INT $load
wait $load
grep -q 'requests in' wrk.out || fail "nobody asked: $(cat wrk.out)"
! grep -i 'errors\|non-2xx' wrk.out || fail "requests were lost: $(cat wrk.out)"
[ "$(sed -n 's/^ *\([0-9]*\) requests in.*/\1/p' wrk.out)" -gt 1000 ] || fail "hardly any requests: $(cat wrk.out)"
cmp -s www/index.html - <<END || fail "another answer"
$(python3 -c "import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$port/').read().decode(), end='')")
END
