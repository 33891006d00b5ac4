/*
 * base/near: how far names are apart, and which of many is taken for the one that was meant.
 */
#include "base/near.h"

#include <string.h>

#include "insist.h"

static const char *best(const char *to, const char *const *names)
{
	static struct near near;

	near = (struct near){ .to = to };
	for (; *names; names++)
		near_see(&near, *names);
	return near_best(&near);
}

int main(void)
{
	static const char *const names[] = { "main", "shop_close", "shop_place", "shop_places", "f", "", NULL };
	char longer[NEAR_MAX + 2];

	CHECK(near_distance("record", "record") == 0, "the same");
	CHECK(near_distance("record", "recrod") == 1, "two swapped");
	CHECK(near_distance("record", "recrd") == 1, "one left out");
	CHECK(near_distance("record", "recoord") == 1, "one more");
	CHECK(near_distance("", "abc") == 3 && near_distance("abc", "") == 3, "of nothing");
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	CHECK(near_distance(longer, longer) == 99, "too long to be compared");
	longer[NEAR_MAX] = '\0';
	CHECK(near_distance(longer, longer) == 0, "just not too long");

	CHECK(!strcmp(best("shop_plcae", names), "shop_place"), "the nearest");
	CHECK(!strcmp(best("shop_place", names), "shop_place"), "itself");
	CHECK(!best("xyzzy", names) && !best("", names) && !best("shop", names), "none is near");
	return 0;
}
