# Keys and who is known by them: what the files have and who may read them, what a person wrote there stays, names and fingerprints that are none are
# refused in words, and each verb of --may lets in just for what it says.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"
cd "$RINGSIDE_SCRATCH" || exit 1
one=SHA256:ZGtSOdj2YjL75NQa+ht1p+2OrtKnF46Dew460RsW0Yg two=SHA256:SOvvdJQ9PGxyb0j2xQb5ZtqQ0Vn58WZaGqjFn3fVxJs
export RINGSIDE_KEYS="$RINGSIDE_SCRATCH/far/below/keys"

# wrong STATUS WORDS COMMAND...
wrong() {
	wanted=$1 words=$2
	shift 2
	want "$wanted" "$@"
	grep -qF -e "$words" "$err" || fail "ringside $* says: $(cat "$err")"
}

umask 0
# A key is made once, and nobody else may read it.
want 0 key
print=$(cat "$out")
echo "$print" | grep -Eqx 'SHA256:[A-Za-z0-9+/]{43}' || fail "no fingerprint: $print"
want 0 key
[ "$(cat "$out")" = "$print" ] || fail "another key is made"
[ "$(stat -c %a "$RINGSIDE_KEYS")" = 700 ] || fail "the directory can be read"
[ "$(stat -c %a "$RINGSIDE_KEYS/key")" = 600 ] || fail "the key can be read"
for mode in 640 604 620 601; do
	chmod $mode "$RINGSIDE_KEYS/key"
	wrong 1 'others may read it' key
done
chmod 600 "$RINGSIDE_KEYS/key"
cp "$RINGSIDE_KEYS/key" kept
for damage in 'head -c 100 kept' 'tr A-Z B-ZA <kept' ':'; do
	eval "$damage" >"$RINGSIDE_KEYS/key"
	wrong 1 "$RINGSIDE_KEYS/key" key
done
cp kept "$RINGSIDE_KEYS/key"
wrong 2 "'extra' is too much" key extra

# Who is known.
want 0 trust
[ ! -s "$out" ] || fail "somebody is known: $(cat "$out")"
want 0 trust b1 $one
want 0 trust b2 $two --may read,control
want 0 trust
[ "$(tr -s ' ' <"$out")" = "b1 $one read,record
b2 $two read,control" ] || fail "others are known: $(cat "$out")"
[ "$(stat -c %a "$RINGSIDE_KEYS/trust")" = 644 ] || fail "the list has another mode"
for name in '' . .. ../x a/b -x .x 'a b' "a
b" "$(printf %065d 1)"; do
	wrong 2 "is no name" trust -- "$name" $one
done
for print in x SHA256: "${one}A" "${one%g}" "$(echo $one | tr + -)" "SHA1:$one" "$one $one"; do
	wrong 2 "is no fingerprint" trust b3 "$print"
done
for may in '' all record, ,record recordx 'read record' RECORD; do
	wrong 2 "there are read, record and control" trust b3 $one --may "$may"
done
wrong 2 'a fingerprint is missing' trust b3
wrong 2 '--remove takes a name' trust --remove
wrong 2 '--remove takes a name' trust --remove b1 $one
wrong 1 'nobody is known as b3' trust --remove b3

# What a person wrote stays, where it stood.
printf '# boards of the lab\n\n\t\nb1 %s record\n#b9 x y\n  b2\t%s  read,control\n# end' $one $two >"$RINGSIDE_KEYS/trust"
want 0 trust B1 $two --may control
want 0 trust b4 $one
want 0 trust --remove b2
[ "$(cat "$RINGSIDE_KEYS/trust")" = "$(printf '# boards of the lab\n\n\t\nB1 %s control\n#b9 x y\n# end\nb4 %s read,record' $two $one)" ] ||
	fail "the file is $(cat "$RINGSIDE_KEYS/trust")"
printf '# nobody yet\n' >"$RINGSIDE_KEYS/trust"
want 0 trust b1 $one
grep -qx '# nobody yet' "$RINGSIDE_KEYS/trust" || fail "the only comment is gone"
for line in 'b5' "b5 $one" "b5 $one all" "b5 x record" "../b5 $one record" "b5 $one record more"; do
	printf '# one\n%s\n' "$line" >"$RINGSIDE_KEYS/trust"
	wrong 1 'trust, line 2: NAME FINGERPRINT VERBS is needed' trust
	wrong 1 'trust, line 2: NAME FINGERPRINT VERBS is needed' trust b6 $one
	[ "$(wc -l <"$RINGSIDE_KEYS/trust")" = 2 ] || fail "a file that makes no sense is written"
done
: >"$RINGSIDE_KEYS/trust"
chmod 666 "$RINGSIDE_KEYS/trust"
wrong 1 'others may write it' trust
rm "$RINGSIDE_KEYS/trust"
umask 022

# What each verb is good for: the one is called, by TLS, and knows the other as that.
mkdir served
export RINGSIDE_DIR="$RINGSIDE_SCRATCH/dir"
callers=$RINGSIDE_SCRATCH/callers servers=$RINGSIDE_KEYS
caller=$(RINGSIDE_KEYS=$callers "$RINGSIDE" key) server=$("$RINGSIDE" key)
RINGSIDE_KEYS=$callers "$RINGSIDE" trust 127.0.0.1 "$server" --may read || fail "cannot be trusted"
# serve VERB: it is in $pid, and where in $at.
serve() {
	for at in 36$(($$ % 90 + 10))1 37$(($$ % 90 + 10))2 38$(($$ % 90 + 10))3 39$(($$ % 90 + 10))4; do
		: >served.log
		"$RINGSIDE" "$@" --at 127.0.0.1:$at 2>served.log &
		pid=$!
		while kill -0 $pid 2>/dev/null; do
			! grep -q 'listens at' served.log || return 0
			sleep 0.1
		done
	done
	fail "$* does not begin: $(cat served.log)"
}
serve listen -d served
listener=$pid listens=$at
serve agent
agent=$pid answers=$at
trap 'kill $listener $agent 2>/dev/null; rm -f "$out" "$err"' EXIT
calls() {
	RINGSIDE_KEYS=$callers
	wrong "$@" --tls -e none true
	RINGSIDE_KEYS=$servers
}
calls 1 'is not known there' record -N 127.0.0.1:$listens
calls 1 'is not known there' record -o a.dat -A 127.0.0.1:$answers
"$RINGSIDE" trust guest "$caller" --may read
calls 1 'guest may not record there' record -N 127.0.0.1:$listens
calls 1 'guest may not control there' record -o a.dat -A 127.0.0.1:$answers
"$RINGSIDE" trust guest "$caller" --may record
calls 0 'its clock is matched' record -N 127.0.0.1:$listens
calls 1 'guest may not control there' record -o a.dat -A 127.0.0.1:$answers
[ "$(ls served)" = guest ] || fail "it is kept under another name: $(ls served)"
"$RINGSIDE" trust guest "$caller" --may control
calls 1 'guest may not record there' record -N 127.0.0.1:$listens
calls 0 'its clock matched' record -o a.dat -A 127.0.0.1:$answers
"$RINGSIDE" trust guest "$caller" --may read,record,control
calls 0 'its clock is matched' record -N 127.0.0.1:$listens
calls 0 'its clock matched' record -o a.dat -A 127.0.0.1:$answers
# Who is called may read what is sent: by that, or by what is more.
for may in record control; do
	RINGSIDE_KEYS=$callers "$RINGSIDE" trust 127.0.0.1 "$server" --may $may
	case $may in
	record) calls 1 '127.0.0.1 may not read what is recorded here' record -N 127.0.0.1:$listens ;;
	*) calls 0 'its clock is matched' record -N 127.0.0.1:$listens ;;
	esac
done
# Whoever is called has to have the key of that name.
RINGSIDE_KEYS=$callers "$RINGSIDE" trust 127.0.0.1 $one
calls 1 'somebody else is there' record -N 127.0.0.1:$listens
RINGSIDE_KEYS=$callers "$RINGSIDE" trust --remove 127.0.0.1
calls 1 'which nobody here knows as 127.0.0.1' record -N 127.0.0.1:$listens
exit 0
