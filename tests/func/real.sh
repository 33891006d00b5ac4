#!/bin/sh
# Programs of Debian do under function and function_graph what they do without: the same on stdout and stderr, the same exit
# status. What cannot be traced runs as it is, with a word about it.
#
# RINGSIDE_LONG=1 has python run more of its own tests, and all that record everything instead of the newest.
. "$RINGSIDE_SOURCE/tests/func/stage.sh"
# shellcheck disable=SC2034
[ -z "${RINGSIDE_LONG-}" ] || HOW=

# ---- bash ----

cat >some.bash <<'END'
f() { echo "f $1"; return "$1"; }
f 3; echo $?
(f 4; exit 5); echo $?
f 1 | cat | tr f g
trap 'echo usr1' USR1
kill -USR1 $$
kill -USR1 $BASHPID
for i in {1..60}; do x=$(f $((i % 7))); done
echo "$x"
sleep 0.05 & wait $!; echo $?
sh -c 'kill -TERM $$' & wait $!; echo $?
set -m
sleep 0.05 &
fg %1 >/dev/null
(set -e; false; echo never) ; echo $?
coproc cat; echo hello >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line"
eval "exec ${COPROC[1]}>&-"; wait
deep() { (($1)) && deep $(($1 - 1)) || echo bottom; }
deep 200
cat <(echo one) <(echo two)
trap 'echo bye' EXIT
exit 7
END
! have bash || same bash bash some.bash

# ---- python ----

cat >some.py <<'END'
import asyncio, ctypes, gc, json, os, re, subprocess, sys, threading, traceback

def fact(n):
	return 1 if n < 2 else n * fact(n - 1)

threads = [threading.Thread(target=fact, args=(300,)) for i in range(8)]
[t.start() for t in threads]
[t.join() for t in threads]
print(fact(50), json.loads(json.dumps({"a": [1, 2.5, None]})))

@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
def order(a, b):
	return a[0] - b[0]
numbers = (ctypes.c_int * 5)(5, 1, 4, 2, 3)
ctypes.CDLL(None).qsort(numbers, 5, 4, order)
print(list(numbers))

def endless(n):
	return endless(n + 1)
try:
	endless(0)
except RecursionError as e:
	print(e)

async def wait(i):
	await asyncio.sleep(0.001)
	return i
async def main():
	child = await asyncio.create_subprocess_exec("sh", "-c", "exit 3")
	print(await child.wait(), sum(await asyncio.gather(*[wait(i) for i in range(50)])))
asyncio.run(main())
pid = os.fork()
if not pid:
	os._exit(9)
print(os.waitpid(pid, 0)[1], subprocess.run(["echo", "x"], capture_output=True).stdout)
gc.collect()
try:
	1 / 0
except ZeroDivisionError:
	traceback.print_exc()
raise SystemExit(4)
END
cat >lets.py <<'END'
import greenlet, threading

def work(n, depth):
	if depth:
		return work(n, depth - 1) + 1
	greenlet.getcurrent().parent.switch(n)
	return n

def all():
	lets = [greenlet.greenlet(lambda i=i: work(i, i % 20)) for i in range(60)]
	sums.append(sum(g.switch() for g in lets) + sum(g.switch() for g in reversed(lets)))

sums = []
threads = [threading.Thread(target=all) for i in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
all()
print(sums)
END
if have python3; then
	same python python3 some.py
	if python3 -c 'import greenlet' 2>/dev/null; then
		same greenlet python3 lets.py
	else
		without "python3-greenlet: it is not installed"
	fi
	if python3 -c 'import test.test_generators' 2>/dev/null; then
		same 'python test' python3 -m unittest test.test_generators test.test_contextlib test.test_with
		[ -z "${RINGSIDE_LONG-}" ] || for t in json ctypes exceptions coroutines threading signal subprocess asyncio; do
			LIMIT=1200 same "python test_$t" python3 -m unittest "test.test_$t"
		done
	else
		without "python's own tests: they are not installed"
	fi
fi

# ---- sqlite3, git, gcc ----

fresh_git() {
	rm -rf repo copy
}
cat >some.git <<'END'
export GIT_AUTHOR_DATE='2020-01-01 00:00:00 +0000' GIT_COMMITTER_DATE='2020-01-01 00:00:00 +0000'
export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b one repo && cd repo || exit 1
for i in 1 2 3 4; do
	seq "$i" 500 >"file$i"; git add . && git commit -qm "number $i" || exit 1
done
git checkout -qb two HEAD~2 && seq 7 >file1 && git commit -qam side && git merge -q one -m both
git log --graph --stat --format=%H
git gc -q && git fsck --no-progress && git clone -q . ../copy && git -C ../copy log -p | sha1sum
git diff --word-diff HEAD~1 | sha1sum
git rev-parse nothing
END
! have git || FRESH=fresh_git same git sh some.git

! have sqlite3 || same sqlite3 sqlite3 :memory: "create table t(a, b);
	with recursive c(x) as (select 1 union all select x + 1 from c where x < 3000) insert into t select x, x * x % 97 from c;
	create index i on t(b); select b, count(*), sum(a) from t group by b order by b;
	select count(*) from t x join t y on x.b = y.a; select nothing;"

gone_object() {
	rm -f some.o some.out
}
if have gcc; then
	FRESH=gone_object same gcc sh -c "gcc -O2 -Wall -pthread '$cases/hard.c' -o some.out -ldl && ./some.out jumps tails; sha1sum some.out"
	echo 'int main(void) { return no }' >wrong.c
	same 'gcc and an error' gcc -c wrong.c
fi

# ---- What is static: it runs as it is ----

if have busybox; then
	same busybox busybox sh -c 'for i in 1 2 3; do echo $i | busybox wc -c; done; exit 5'
	"$RINGSIDE" record -p function_graph -o trace.dat busybox true 2>words
	grep -qi 'static' words || fail "busybox: no word about why there is nothing: $(cat words)"
fi
if have go; then
	mkdir -p gone && cp "$cases/gone.go.txt" gone/main.go && cd gone || exit 1
	for cgo in 0 1; do
		if GOCACHE=$dir/cache GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=$cgo go build -o "../go$cgo" main.go 2>../errors; then
			cd .. && same "go, cgo $cgo" "./go$cgo" && cd gone || exit 1
		else
			fail "go build: $(head -n 3 ../errors)"
		fi
	done
	cd ..
fi

# ---- nginx: no request is lost ----

nginx_under() {
	tracer=$1
	port=$((20000 + ($$ + ${#tracer}) % 20000))
	mkdir -p web/logs && seq 2000 >web/page
	cat >web/conf <<-END
	daemon off; worker_processes 2; error_log $dir/web/errors; pid $dir/web/pid; user root;
	events { worker_connections 512; }
	http { access_log $dir/web/access; gzip on; gzip_types *;
		server { listen 127.0.0.1:$port; root $dir/web; location /not { return 204; } } }
	END
	: >web/errors
	"$RINGSIDE" record -q -p "$tracer" -m 2048 -o trace.dat nginx -c "$dir/web/conf" -p "$dir/web" >web/out 2>&1 &
	recorder=$!
	for i in 1 2 3 4 5 6 7 8 9 10; do
		wrk -t1 -c1 -d1 "http://127.0.0.1:$port/page" >web/first 2>&1 && break
		sleep 0.3
	done
	wrk -t2 -c40 -d2 -H 'Accept-Encoding: gzip' "http://127.0.0.1:$port/page" >web/wrk 2>&1
	nginx -c "$dir/web/conf" -p "$dir/web" -s quit 2>>web/out
	wait "$recorder" || fail "nginx, $tracer: exit $?: $(cat web/out)"
	grep -q 'requests in' web/wrk || fail "nginx, $tracer: no request: $(cat web/wrk web/out)"
	! grep -qE 'Socket errors|Non-2xx' web/wrk || fail "nginx, $tracer: $(grep -E 'Socket errors|Non-2xx' web/wrk)"
	! grep -qE 'alert|emerg|crit|signal' web/errors || fail "nginx, $tracer: $(grep -E 'alert|emerg|crit|signal' web/errors | head -n 3)"
	name=nginx
	recorded ngx_http
}
if have nginx && have wrk; then
	for tracer in function function_graph; do
		nginx_under "$tracer"
	done
fi
exit "$bad"
