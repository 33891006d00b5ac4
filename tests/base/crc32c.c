/*
 * base/crc32c: what the standard says of a few bytes; and much at once comes to the same as in pieces, wherever it begins.
 */
#include "base/crc32c.h"

#include <stdlib.h>

#include "insist.h"

#define SIZE 100003u

int main(void)
{
	unsigned char *bytes = malloc(SIZE);

	CHECK(bytes, "no memory");
	CHECK(crc32c(0, "123456789", 9) == 0xe3069283, "the standard's own");
	CHECK(crc32c(0, "", 0) == 0, "of nothing");
	for (uint32_t i = 0; i < SIZE; i++)
		bytes[i] = (unsigned char)(i * 2654435761u >> 24);
	for (uint32_t from = 0; from < 9; from++) {
		uint32_t pieces = 7;

		for (uint32_t i = from; i < SIZE; i += 1000)
			pieces = crc32c(pieces, bytes + i, SIZE - i < 1000 ? SIZE - i : 1000);
		CHECK(crc32c(7, bytes + from, SIZE - from) == pieces, "from byte %u", from);
	}
	free(bytes);
	return 0;
}
