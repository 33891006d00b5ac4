#!/bin/sh
# A set-user-ID program does not follow RINGSIDE_DIR, which whoever starts it could point anywhere: it
# makes nothing there, whatever the place, and runs as ever. Needs root, to make such a program.

set -eu
fail() {
	echo "FAIL $*"
	exit 1
}
[ "$(id -u)" -eq 0 ] || {
	echo 'needs root to make a set-user-ID program'
	exit 77
}
command -v setpriv >/dev/null || {
	echo 'needs setpriv'
	exit 77
}
cd "$RINGSIDE_SCRATCH"
chmod 755 .
cat >prog.c <<'END'
#include <ringside/ringside.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
RINGSIDE_EVENT(secure, event, field(int, n))
int main(void)
{
	for (int i = 0; i < 10; i++)
		trace_secure_event(i);
	printf("%d %d%s\n", (int)getuid(), (int)geteuid(), getenv("RINGSIDE_profile") ? " by a profile" : "");
	return 0;
}
END
# $CC is a command with options. Linked statically: the loader would not find the library then.
# shellcheck disable=SC2086
$CC -std=gnu11 -O2 -I"$RINGSIDE_SOURCE/include" prog.c -o prog "$RINGSIDE_BUILD/libringside.a"
case $(stat -f -c %T . 2>/dev/null; findmnt -n -o OPTIONS -T . 2>/dev/null) in
*nosuid*)
	# Somewhere else, then.
	place=$(mktemp -d /var/tmp/ringside-secure.XXXXXX)
	chmod 755 "$place"
	trap 'rm -rf "$place"' EXIT
	;;
*) place=$PWD ;;
esac
cp prog "$place/plain"
cp prog "$place/secure"
chown 12345:12345 "$place/secure"
chmod 4755 "$place/secure"
mkdir -m 777 open
own=/dev/shm/ringside-12345
[ ! -e $own ] || {
	echo "$own exists"
	exit 77
}

as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

# Without the bit it would follow: so this test can tell.
out=$(RINGSIDE_DIR=$PWD/open/plain as_nobody "$place/plain")
[ "$out" = '65534 65534' ] && [ -e open/plain/control ] || fail "the plain program: $out, $(ls open)"

out=$(RINGSIDE_DIR=$PWD/open/secure as_nobody "$place/secure" 2>&1)
made=$(ls -d $own 2>/dev/null || :)
rm -rf $own
case $out in
'65534 12345') ;;
'65534 65534')
	echo 'set-user-ID does not work here'
	exit 77
	;;
*) fail "the set-user-ID program: $out" ;;
esac
[ ! -e open/secure ] || fail 'it followed RINGSIDE_DIR'

# Nor does it run what whoever starts it names; the plain one does.
printf '#!/bin/sh\n: >"$(dirname "$0")/$(id -u)"\n' >open/command
chmod 755 open/command
for name in plain secure; do
	RINGSIDE_DIR=$PWD/open/plain RINGSIDE_PROFILE=x RINGSIDE_COMMAND=$PWD/open/command as_nobody "$place/$name" >open/said-$name
done
rm -rf $own
[ -e open/65534 ] || fail 'the plain program did not run RINGSIDE_COMMAND'
[ ! -e open/12345 ] || fail 'it ran RINGSIDE_COMMAND'
[ "$(cat open/said-plain)" = '65534 65534 by a profile' ] || fail 'the plain program did not follow RINGSIDE_PROFILE'
[ "$(cat open/said-secure)" = '65534 12345' ] || fail 'it followed RINGSIDE_PROFILE'
[ -n "$made" ] || fail 'it is not traced at its own place either'
echo "it uses $made"
