#!/bin/sh
# The completion that is installed, asked as a shell asks it.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
. "$RINGSIDE_SOURCE/tests/cmd/tree.sh"

refuse 2 complete -- missing
refuse 2 complete fish -- fish
want 0 help
! grep -q complete "$out" || fail "complete is not hidden"
mkdir "$tree/instances/blue" "$tree/instances/green"

want 0 complete zsh
head -n 1 "$out" | grep -qx '#compdef ringside' || fail "zsh does not know what it is"
if command -v zsh >/dev/null; then
	zsh -n "$out" 2>"$err" || fail "zsh does not read it"
	mv "$out" "$RINGSIDE_SCRATCH/completion"
	# What it hands to zsh, in place of which these two stand.
	cat >"$RINGSIDE_SCRATCH/ask" <<-'END'
		_arguments() { [[ ${1-} != -s ]] || print -rl -- "$@" }
		compadd() { [[ $*[1,2] == "-J group" ]] && print -rl -- ${(P)@[-1]} }
		words=(ringside --tracefs=$2 set) CURRENT=4
		. $1
		PREFIX=m _ringside_add -J group clocks
		PREFIX=events/shop/ _ringside_add -J group files
		_ringside_of stat
	END
	PATH=$(dirname "$RINGSIDE"):$PATH zsh -f "$RINGSIDE_SCRATCH/ask" \
		"$RINGSIDE_SCRATCH/completion" "$tree" >"$out" 2>"$err" || fail "zsh fails"
	for text in mono events/shop/pay/ \
		'*-B+[about this instance; again for more]:INSTANCE:_ringside_add instances' \
		'*--no-pager[long output straight to the terminal]'; do
		grep -qxF -e "$text" "$out" || fail "zsh is not offered '$text'"
	done
fi
command -v bash >/dev/null || {
	echo "skip: no bash here"
	exit 77
}
want 0 complete bash
mv "$out" "$RINGSIDE_SCRATCH/completion"

cat >"$RINGSIDE_SCRATCH/ask" <<'END'
. "$1"
complete -p ringside | grep -q _ringside || exit 1
COMP_LINE=$2
COMP_POINT=${#2}
COMP_WORDBREAKS=$' \t\n"\'><=;|&(:'
_ringside
printf '%s\n' "${COMPREPLY[@]}" | LC_ALL=C sort | tr '\n' ' '
END

# What bash offers behind a line, sorted, on one line.
offers() {
	PATH=$(dirname "$RINGSIDE"):$PATH bash "$RINGSIDE_SCRATCH/ask" "$RINGSIDE_SCRATCH/completion" \
		"$1" >"$out" 2>"$err" || fail "bash: $1"
	[ ! -s "$err" ] || fail "bash: $1: words"
	[ "$(cat "$out")" = "$2 " ] || fail "behind '$1': '$(cat "$out")', not '$2 '"
}

t="--tracefs $tree"
offers 'ringside sta' 'stack start stat'
offers 'ringside help resta' 'restart'
offers "ringside $t sho" 'show'
offers 'ringside show --p' '--pipe --programs'
offers 'ringside show --timeout 1 --js' '--json'
offers "ringside start $t -e sh" 'shop shop:order shop:pay'
offers "ringside $t start -e shop:o" 'order'
offers "ringside start $t --event=web:" 'hit'
offers "ringside start $t -e shop -B " 'blue green'
offers "ringside start $t -B b" 'blue'
offers "ringside set $t -C m" 'mono'
offers "ringside set $t -O noo" 'nooverwrite'
offers "ringside set $t -p f" 'function'
offers "ringside show $t -c " '0 1'
offers "ringside cat $t events/shop/" 'events/shop/order/ events/shop/pay/'
offers "ringside cat $t trace trace_p" 'trace_pipe'
offers "ringside write $t tracing_o" 'tracing_on'
offers "ringside write $t tracing_on " ''
offers "ringside write $t -" '--append --dir --help --kernel --no-pager --programs --tracefs -a -h'
offers "ringside list --tracefs $RINGSIDE_SCRATCH/tr" "$tree"
offers "ringside probe -x $RINGSIDE_SCRATCH/tre" "$tree/"

# Events of the kernel's names, which nothing records yet: their systems, and behind the colon all.
want 0 start
offers 'ringside start -e sy' 'syscalls'
offers 'ringside start -e signal:' 'signal_deliver signal_generate'
offers "ringside nosuch -" '--dir --help --kernel --no-pager --programs --tracefs -h'

# Remotes, their events, and files that are no control files.
offers 'ringside remote ' 'add list remove'
offers 'ringside record --remote t' 'test'
offers 'ringside record --remote test:' 'selftest'
offers "ringside remote add box --mem $RINGSIDE_SCRATCH/tre" "$tree/"
offers "ringside remote add box --elf $RINGSIDE_SCRATCH/tre" "$tree/"
offers "ringside report -i $RINGSIDE_SCRATCH/tre" "$tree/"

# Names are offered, not run.
echo 'evil:$(touch${IFS}pwned)' >>"$tree/available_events"
offers "ringside start $t -e ev" 'evil evil:\$\(touch\$\{IFS\}pwned\)'
[ ! -e pwned ] || fail "a name was run"
exit 0
