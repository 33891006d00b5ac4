#!/bin/sh
# bootconfig beside the kernel's: its samples, its own test of its tool with ours in its place, the same bytes behind an initrd, and
# its reader and ours in one process. The kernel's source comes out of Debian's package.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

kernel=$("$RINGSIDE_SOURCE/tests/clients/source") || exit 77
tool=$kernel/tools/bootconfig
cd "$RINGSIDE_SCRATCH" || exit 1

# CC is a command line. Its own warnings are nothing to us.
# shellcheck disable=SC2086
$CC -w -I"$tool/include" "$tool/main.c" "$kernel/lib/bootconfig.c" -o theirs || fail "the kernel's tool does not compile"
# shellcheck disable=SC2086
$CC -O1 -w -D_GNU_SOURCE -I"$tool/include" -I"$RINGSIDE_SOURCE/src" "$RINGSIDE_SOURCE/tests/boot/peer.c" "$kernel/lib/bootconfig.c" \
	"$RINGSIDE_SOURCE/src/boot/parse.c" "$RINGSIDE_SOURCE/src/boot/show.c" "$RINGSIDE_SOURCE/src/base/buf.c" \
	"$RINGSIDE_SOURCE/src/base/err.c" -o peer || fail "peer.c does not compile"

# Good ones are shown alike, bad ones refused at the same place.
samples=0
for sample in "$tool"/samples/*.bconf; do
	samples=$((samples + 1))
	case $sample in
	*/good-*)
		for how in '' -l; do
			# shellcheck disable=SC2086
			./theirs $how "$sample" >theirs.out || fail "the kernel's tool refuses $sample"
			# shellcheck disable=SC2086
			want 0 bootconfig $how "$sample"
			cmp -s theirs.out "$out" || fail "$sample is shown otherwise"
		done
		;;
	*)
		place=$(./theirs "$sample" 2>&1 | sed -n 's/^Parse Error: .* at \([0-9]*:[0-9]*\)$/\1/p')
		[ -n "$place" ] || fail "the kernel's tool says nothing of $sample"
		refuse 1 bootconfig "$sample" -- "$sample:$place: "
		;;
	esac
done
[ $samples -ge 26 ] || fail "$samples samples"

# An image of any size, with any text: the same bytes, whoever attaches; who removes it does not matter either.
for size in 0 1 2 3 4 4095 70001; do
	head -c $size /dev/urandom >image
	for text in 'a = 1' 'key = value;' 'ftrace.event.sched { enable
	sched_switch.filter = "prev_pid == 0" } # all
'; do
		printf '%s\n' "$text" >text
		cp image a
		cp image b
		./theirs -a text a >theirs.out || fail "theirs -a"
		want 0 bootconfig -a text b
		cmp -s a b || fail "other bytes behind an image of $size"
		sed 's/ to a$/ to b/' theirs.out | cmp -s - "$out" || fail "-a says something else"
		want 0 bootconfig -a text a
		cmp -s a b || fail "other bytes when it is attached again"
		want 0 bootconfig -l a
		./theirs -l b | cmp -s - "$out" || fail "what is attached is shown otherwise"
		./theirs -d b || fail "theirs -d"
		want 0 bootconfig -d a
		cmp -s a image && cmp -s b image || fail "the image is not what it was"
	done
done

# Its own test of it.
mkdir own
cp -r "$tool/samples" "$tool/test-bootconfig.sh" own/
printf '#!/bin/sh\nexec %s bootconfig "$@"\n' "$RINGSIDE" >own/bootconfig
chmod +x own/bootconfig
(cd own && sh ./test-bootconfig.sh .) >"$out" 2>"$err" || fail "the kernel's test of its tool"
grep -q '^All tests passed' "$out" || fail "the kernel's test of its tool did not come to its end"

./peer "${PEER_SEED:-1}" "${PEER_COUNT:-60000}" "$tool"/samples/*.bconf >"$out" 2>"$err" || fail "not as the kernel reads it"
