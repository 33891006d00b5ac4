#!/bin/sh
# A thousand probes at instructions of sqlite3, of python3 and of nginx, wherever they happen to be: the programs do what they do without,
# and some of the probes are come by. Those that cannot be are refused in words, each by itself.
#
# BOUNDARIES_SEED=N picks others.
. "$RINGSIDE_SOURCE/tests/probe/room.sh"

PATH=$PATH:/usr/sbin
seed=${BOUNDARIES_SEED:-1}
# Not what else may come first on the path.
python=/usr/bin/python3

lacks() {
	echo "SKIP: $1 is not installed"
	exit 77
}

for peer in sqlite3 $python nginx curl objdump; do
	command -v $peer >/dev/null || lacks $peer
done

# N places where instructions of a file begin, as lines for uprobe_events: places FILE N
places() {
	readelf -lW "$1" | awk '/LOAD.* R E / { print strtonum($2) - strtonum($3); exit }' >shift
	objdump -d -w -j .text "$1" | awk -v n="$2" -v seed="$seed" -v shift="$(cat shift)" -v file="$1" '
		/^ +[0-9a-f]+:\t/ { sub(":", "", $1); all[total++] = $1 }
		END {
			srand(seed)
			for (i = 0; i < n && i < total; i++) {
				at = strtonum("0x" all[int(rand() * total)])
				printf "p:points/at_%x %s:0x%x\n", at, file, at + shift
			}
		}' | sort -u
}

# The probes of a file, those that can be: probe FILE N. How many there are: $count
probe() {
	want 0 write events/enable 0
	want 0 write uprobe_events ''
	want 0 write trace ''
	places "$(readlink -f "$1")" "$2" >lines
	# Lines before one that cannot be are taken: on with those behind it.
	: >refused
	taken=0
	while [ -s lines ] && ! "$RINGSIDE" write -a uprobe_events "$(cat lines)" >/dev/null 2>>refused; do
		now=$("$RINGSIDE" cat uprobe_events | wc -l)
		sed -i "1,$((now - taken + 1))d" lines
		taken=$now
	done
	grep -qv 'cannot be probed: ' refused && fail "refused for another reason: $(grep -v 'cannot be probed: ' refused | head -3)"
	want 0 cat uprobe_events
	count=$(wc -l <"$out")
	[ "$count" -gt $(($2 * 8 / 10)) ] || fail "only $count of $2 places in $1 can be probed: $(tail -3 refused)"
	want 0 write events/points/enable 1
}

# How many of them were come by.
met() {
	"$RINGSIDE" cat uprobe_profile | awk '$NF > 0' | wc -l
}

# Says the same with and without: same NAME COMMAND...
same() {
	name=$1
	shift
	timeout 60 "$@" >"$name.plain" 2>"$name.plain.err" </dev/null
	status=$?
	LD_PRELOAD=$library timeout 120 "$@" >"$name.probed" 2>"$name.probed.err" </dev/null
	got=$?
	[ $got -eq $status ] || fail "$name: exit $got, not $status"
	cmp -s "$name.plain" "$name.probed" || fail "$name says something else: $(diff "$name.plain" "$name.probed" | head -5)"
	cmp -s "$name.plain.err" "$name.probed.err" || fail "$name complains: $(diff "$name.plain.err" "$name.probed.err" | head -5)"
}

# ---- sqlite3 ----

cat >some.sql <<'END'
create table t (a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000) insert into t select i, printf('row %d', i * 7 % 911), i / 3.0 from n;
create index t_b on t (b);
select count(*), sum(a), max(b), round(avg(c), 3) from t where b like 'row 1%';
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
select json_group_array(a) from (select a from t where a % 500 = 0);
begin; delete from t where a % 3 = 0; rollback;
select count(*) from t; explain query plan select * from t where b = 'x'; select nosuch from t;
END
library_of() {
	ldd "$(command -v "$1")" | awk -v name="$2" 'index($1, name) == 1 { print $3 }'
}
for file in "$(library_of sqlite3 libsqlite3)" "$(command -v sqlite3)"; do
	probe "$file" 1000
	same sqlite3 sqlite3 :memory: '.read some.sql'
	[ "$(met)" -gt 10 ] || fail "hardly any of the probes in $file were come by"
done

# ---- python3 ----

cat >some.py <<'END'
import asyncio, collections, gc, hashlib, json, re, subprocess, threading, traceback

threads = [threading.Thread(target=lambda: sum(i * i for i in range(3000))) for _ in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]

async def wait(i):
	await asyncio.sleep(0.001)
	return i

async def main():
	return sum(await asyncio.gather(*[wait(i) for i in range(30)]))

def endless(n):
	return endless(n + 1)

print(asyncio.run(main()), json.dumps({"a": [1, 2.5, None]}), re.sub("a+", "b", "caaat"), hashlib.sha256(b"x" * 9999).hexdigest())
try:
	endless(0)
except RecursionError as e:
	print(e)
print(subprocess.run(["echo", "x"], capture_output=True).stdout, sorted(collections.Counter("mississippi").items()))
gc.collect()
try:
	1 / 0
except ZeroDivisionError:
	traceback.print_exc()
END
probe $python 1000
same python3 $python some.py
[ "$(met)" -gt 10 ] || fail "hardly any of the probes in python3 were come by"

# ---- nginx ----

mkdir -p www logs
for i in 1 2 3 4 5 6 7 8 9; do
	seq $i 3000 >www/$i
done
port=$($python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nginx.conf <<END
daemon off;
master_process off;
pid $PWD/pid;
error_log $PWD/logs/error.log;
events { worker_connections 64; }
http {
	access_log $PWD/logs/access.log;
	gzip on; gzip_types *; gzip_min_length 100;
	client_body_temp_path $PWD/a; proxy_temp_path $PWD/b; fastcgi_temp_path $PWD/c; uwsgi_temp_path $PWD/d; scgi_temp_path $PWD/e;
	server { listen 127.0.0.1:$port; location / { root $PWD/www; } location /r { return 301 /1; } }
}
END
cat >ask.sh <<END
for i in 1 2 3 4 5 6 7 8 9 nosuch r; do
	curl -s -i "http://127.0.0.1:$port/\$i" | grep -v -e '^Date:' | cksum
	curl -s -L --compressed "http://127.0.0.1:$port/\$i" | cksum
	curl -s -r 100-300 "http://127.0.0.1:$port/\$i" | cksum
done
END
serve() {
	rm -f pid
	"$@" nginx -c "$PWD/nginx.conf" -p "$PWD" >nginx.out 2>&1 &
	server=$!
	tries=0
	while [ ! -s pid ]; do
		tries=$((tries + 1))
		[ $tries -lt 200 ] || fail "nginx does not start: $(cat nginx.out)"
		sleep 0.05
	done
}
trap 'kill $server 2>/dev/null' EXIT
serve env
sh ask.sh >plain
kill $server
wait $server
probe "$(command -v nginx)" 1000
serve env LD_PRELOAD="$library"
sh ask.sh >probed
cmp -s plain probed || fail "nginx answers something else: $(diff plain probed | head -5)"
kill $server
wait $server || fail "nginx ends with $?"
[ "$(met)" -gt 10 ] || fail "hardly any of the probes in nginx were come by"
