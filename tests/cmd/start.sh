#!/bin/sh
# start with a command behind it: events are on before it runs, its exit status is passed on, and they stay on.
. "$RINGSIDE_SOURCE/tests/cmd/room.sh"

program clerk <<'END'
#include <ringside/ringside.h>
#include <pthread.h>
#include <stdlib.h>

RINGSIDE_EVENT(shop, order, field(int, item))

static void *help(void *item)
{
	trace_shop_order(*(int *)item);
	return NULL;
}

/* clerk STATUS: one order from a thread of its own, one from the first. */
int main(int argc, char **argv)
{
	int item = 2;
	pthread_t helper;

	trace_shop_order(1);
	pthread_create(&helper, NULL, help, &item);
	pthread_join(helper, NULL);
	return argc > 1 ? atoi(argv[1]) : 0;
}
END
clerk=$RINGSIDE_SCRATCH/clerk

refuse 2 start -F -e shop -- --only-command
refuse 2 start -e a:b:c "$clerk" -- a:b:c
refuse 1 start -e shop:order "$RINGSIDE_SCRATCH/nosuch" -- nosuch
want 0 cat set_event
[ ! -s "$out" ] || fail "events of a command that is none are on"

want 3 start -q -e shop:order "$clerk" 3
want 0 show
[ "$(grep -c ': order: item=' "$out")" -eq 2 ] || fail "not both orders"
want 0 cat set_event
says shop:order
want 0 clear
"$clerk"
want 0 show
[ "$(grep -c ': order: item=' "$out")" -eq 2 ] || fail "they are not on any more"

# Its first thread alone.
want 0 reset
want 0 start -q -F -e shop:order -- "$clerk"
want 0 show
[ "$(grep -o 'item=.*' "$out")" = item=1 ] || fail "not one order"
want 0 reset
exit 0
