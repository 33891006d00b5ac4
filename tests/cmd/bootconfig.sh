#!/bin/sh
# bootconfig: how it is asked, and what it refuses. tests/boot/kernel.sh has it beside the kernel's own.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1

refuse 2 bootconfig -- 'which image'
refuse 2 bootconfig -e a b -- 'which image'
refuse 2 bootconfig -d -l a -- 'one of -a, -d and -l'
refuse 2 bootconfig -a a -d b -- 'one of'
refuse 1 bootconfig nosuch -- nosuch 'No such file'
refuse 1 bootconfig -d nosuch -- nosuch
refuse 1 bootconfig -a nosuch image -- nosuch
mkdir dir
refuse 1 bootconfig dir -- 'dir: is no file'
refuse 1 bootconfig -d dir -- dir

# As a talk types it, and the plain way.
head -c 5000 /dev/zero >initrd.img
cp initrd.img before
printf 'ftrace {\n\ttracer = function_graph\n\tevents = "task:*", "initcall:*"\n}\n' >tracing.bconf
refuse 1 bootconfig initrd.img -- 'no bootconfig is attached'
want 0 bootconfig -a tracing.bconf -e initrd.img
grep -q 'Number of nodes: 6' "$out" && grep -q 'Size: 70 bytes' "$out" || fail "not so large"
[ "$(tail -c 12 initrd.img)" = '#BOOTCONFIG' ] && [ $(($(wc -c <initrd.img) % 4)) -eq 0 ] || fail "not at its end"
want 0 bootconfig initrd.img
says 'ftrace {
	tracer = "function_graph";
	events = "task:*", "initcall:*";
}'
want 0 bootconfig -l initrd.img
says 'ftrace.tracer = "function_graph"
ftrace.events = "task:*", "initcall:*"'

# What is no bootconfig stays out, and what is there stays.
cp initrd.img with
printf 'ftrace { tracer = x\n' >bad
refuse 1 bootconfig -a bad initrd.img -- 'bad:1:1: ' 'not closed'
printf 'a\0b\n' >bad
refuse 1 bootconfig -a bad initrd.img -- 'bad: ' NUL
: >bad
refuse 1 bootconfig -a bad initrd.img -- 'bad:1:1: '
head -c 32766 /dev/zero | tr '\0' '#' >bad
echo >>bad
refuse 1 bootconfig -a bad initrd.img -- 'bad:1:1: ' 32766
cmp -s with initrd.img || fail "the image is not what it was"
# Nor is it put behind something that is damaged.
size=$(wc -c <initrd.img)
printf x | dd of=initrd.img bs=1 seek=$((size - 30)) conv=notrunc 2>/dev/null
cp initrd.img damaged
for how in '' -l -d '-a tracing.bconf'; do
	# shellcheck disable=SC2086
	want 1 bootconfig $how initrd.img
	grep -q 'initrd.img: the bootconfig at its end is damaged' "$err" || fail "not told to be damaged"
done
cmp -s damaged initrd.img || fail "what is damaged was changed"

# Where there is no room, nothing is changed.
cp with initrd.img
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=8k tmpfs small 2>/dev/null; then
	head -c 8000 /dev/zero >small/image
	cp small/image image
	head -c 3000 /dev/zero | tr '\0' '#' >large
	printf '\na\n' >>large
	want 1 bootconfig -a large small/image
	cmp -s image small/image || fail "an image without room is not what it was"
	umount small
fi
want 0 bootconfig -d initrd.img
cmp -s before initrd.img || fail "not removed"
want 0 bootconfig -d initrd.img
cmp -s before initrd.img || fail "removed twice"
