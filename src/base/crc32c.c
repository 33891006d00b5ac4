/*
 * base/crc32c: see crc32c.h. Four bits at a time: 64 bytes of table, and states are small. Plans are not: an x86-64 that has an
 * instruction for it takes eight bytes at a time.
 */
#include "base/crc32c.h"

#if defined(__x86_64__) && !defined(__ILP32__)
#include <cpuid.h>
#include <string.h>

static int has_instruction(void)
{
	unsigned int a, b, c = 0, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c & bit_SSE4_2;
}

/* All but the last few bytes; *bytes and *len are what is left. */
static uint32_t by_eight(uint32_t crc, const unsigned char **bytes, size_t *len)
{
	uint64_t sum = crc, word;

	for (; *len >= 8; *bytes += 8, *len -= 8) {
		memcpy(&word, *bytes, 8);
		__asm__("crc32q %1, %0" : "+r"(sum) : "r"(word));
	}
	return (uint32_t)sum;
}
#else
static int has_instruction(void)
{
	return 0;
}

static uint32_t by_eight(uint32_t crc, const unsigned char **bytes, size_t *len)
{
	(void)bytes, (void)len;
	return crc;
}
#endif

/* To ask the processor may take a microsecond, in a virtual machine more. */
#define WORTH_ASKING 16384

static const uint32_t nibble[16] = {
	0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3, 0x61c69362, 0x7198540d,
	0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9, 0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
};

uint32_t crc32c(uint32_t crc, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;

	crc = ~crc;
	if (len >= WORTH_ASKING && has_instruction())
		crc = by_eight(crc, &p, &len);
	while (len--) {
		crc ^= *p++;
		crc = crc >> 4 ^ nibble[crc & 15];
		crc = crc >> 4 ^ nibble[crc & 15];
	}
	return ~crc;
}
