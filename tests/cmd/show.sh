#!/bin/sh
# show: files of the tree by the words that trace-cmd has for them, of the top buffer and of an instance.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program shop <<'END'
#include <ringside/ringside.h>
RINGSIDE_EVENT(shop, order, field(int, item), print("item=%d", item))
RINGSIDE_EVENT(store, order, field(int, item), print("item=%d", item))
RINGSIDE_EVENT(shop, sale, field(int, item), print("item=%d", item))
int main(void)
{
	for (int i = 0; i < 6; i++)
		trace_shop_sale(i / 2);
	return 0;
}
END
want 0 start -b 2000 -e shop -e store -B audit -b 500 -e shop
"$RINGSIDE_SCRATCH/shop" || fail "the program fails"

# Each word is the file of nearly that name: word FILE.
for pair in 'tracing_on tracing_on' 'current_tracer current_tracer' 'buffer_size buffer_size_kb' 'buffer_total_size buffer_total_size_kb' \
	'buffer_subbuf_size buffer_subbuf_size_kb' 'buffer_percent buffer_percent' 'cpumask tracing_cpumask' 'ftrace_filter set_ftrace_filter' \
	'ftrace_notrace set_ftrace_notrace' 'ftrace_pid set_ftrace_pid' 'graph_function set_graph_function' 'graph_notrace set_graph_notrace'; do
	word=${pair% *} file=${pair#* }
	for instance in '' audit; do
		in=${instance:+instances/$instance/}
		if ! "$RINGSIDE" cat "$in$file" >"$RINGSIDE_SCRATCH/file" 2>/dev/null; then
			[ -n "$instance" ] || fail "there is no $file"
			continue
		fi
		want 0 show ${instance:+-B $instance} "--$word"
		cmp -s "$out" "$RINGSIDE_SCRATCH/file" || fail "--$word of '$instance' is not $file"
	done
done
want 0 show --buffer_size
top=$(cat "$out")
want 0 show -B audit --buffer_size
[ "$top" -ge 2000 ] && [ "$(cat "$out")" -lt 2000 ] || fail "the instance's size is the other's"

# Where it is, too.
want 0 show -f --tracing_on
[ "$(sed -n 2p "$out")" = 1 ] && sed -n 1p "$out" | grep -q 'tracing_on$' || fail "-f"

# Of an event, by its name alone if there is one of it.
want 0 write events/shop/sale/trigger hist:keys=item
"$RINGSIDE_SCRATCH/shop" || fail "the program fails"
want 0 show --trigger sale
grep -qx 'hist:keys=item:vals=hitcount:sort=hitcount:size=2048 \[active\]' "$out" || fail "--trigger"
for event in sale shop:sale shop/sale; do
	want 0 show --hist $event
	[ "$(grep -cE '^\{ item: +[0-2] \} hitcount: +2$' "$out")" -eq 3 ] || fail "--hist $event"
done
want 0 show -B audit --trigger sale
! grep -q '^hist' "$out" || fail "the instance shows the trigger of another buffer"
refuse 1 show --hist order -- order 'more than one' SYSTEM:EVENT
refuse 1 show --hist nosuch -- nosuch 'no event'
refuse 1 show --hist store:sale -- store:sale 'no event'
want 0 show --hist store:order

# One at a time, and no trace besides.
refuse 2 show --tracing_on --cpumask -- one
exit 0
