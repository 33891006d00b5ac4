# The units for systemd say what the command takes, and what systemd takes where there is one; as the one user that the listener's makes it, it works.
set -u
: "${RINGSIDE:?}" "${RINGSIDE_SOURCE:?}" "${RINGSIDE_SCRATCH:?}"
cd "$RINGSIDE_SCRATCH" || exit 1

fail() {
	echo "FAIL: $*" >&2
	exit 1
}

mkdir units
for verb in listen agent; do
	unit=units/ringside-$verb.service
	ln -s "$RINGSIDE" ringside
	sed "s,@bindir@,$PWD," "$RINGSIDE_SOURCE/doc/systemd/ringside-$verb.service.in" >$unit
	words=$(sed -n "s,^ExecStart=$PWD/ringside ,,p" $unit | sed "s,%S,$PWD,")
	[ -n "$words" ] || fail "$unit starts nothing"
	# Words.
	# shellcheck disable=SC2086
	RINGSIDE_KEYS=$PWD/keys "$RINGSIDE" $words --help >help || fail "$words is not taken: $(cat help)"
	grep -q "^usage: ringside $verb" help || fail "$unit is about something else"
	if command -v systemd-analyze >/dev/null; then
		systemd-analyze verify --man=no "$PWD/$unit" >said 2>&1 || fail "$unit: $(cat said)"
		# What it says of units that are installed here is not ours.
		! grep "ringside-$verb" said || fail "$unit: $(cat said)"
	fi
	rm ringside
done
exit 0
