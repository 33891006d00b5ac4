/*
 * Integer conversions by the thousand against the C library's, where C and the kernel have the same
 * rules. Where they have not, tests/decode/print.c has the kernel's.
 */
#include "decode/conv.h"
#include "event.h"

static uint64_t seed = 0x9e3779b97f4a7c15ull;

static uint32_t chance(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 20) % n;
}

static uint64_t any_value(void)
{
	uint64_t v = (uint64_t)chance(UINT32_MAX) << 32 | chance(UINT32_MAX);

	return v >> chance(64);
}

static const struct decode_abi abi = DECODE_ABI_NATIVE;

static void one(const char *spec, uint64_t v)
{
	char want[512];
	struct buf out = BUF_INIT;
	struct conv c;
	struct sink s;
	size_t len = strlen(spec), n = conv_parse(spec, spec + len, &abi, &c);

	check(n == len);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	/*
	 * With more bytes than the conversion takes, as a caller may pass; the C library takes its
	 * own.
	 */
	snprintf(want, sizeof(want), spec,
		 c.size == 8 ? v : decode_abi_extend(v, c.size, c.kind == 'd'));
#pragma GCC diagnostic pop
	sink_open(&s, &out, 65536);
	conv_int(&s, &c, v, false);
	sink_close(&s);
	check_text(__FILE__, __LINE__, spec, out.data, want);
	buf_fini(&out);
}

int main(void)
{
	static const char *const sizes[] = {"hh", "h", "", "ll"};

	for (int i = 0; i < 200000 && failures < 10; i++) {
		char kind = "duxXo"[chance(5)], spec[40], *p = spec;
		uint64_t v = any_value();
		bool alt = chance(4) == 0 && kind != 'd' && kind != 'u';
		int prec = chance(3) ? -1 : (int)chance(30);

		*p++ = '%';
		if (chance(3) == 0)
			*p++ = '-';
		if (kind == 'd' && chance(3) == 0)
			*p++ = '+';
		if (kind == 'd' && chance(3) == 0)
			*p++ = ' ';
		if (prec < 0 && chance(3) == 0)
			*p++ = '0';
		/* The kernel writes 0x0, and counts the 0 of %#o beside the precision. */
		if (alt && (prec < 0 || kind != 'o') && (uint8_t)v)
			*p++ = '#';
		if (chance(2))
			p += sprintf(p, "%u", chance(40) + 1);
		if (prec > 0)
			p += sprintf(p, ".%d", prec);
		sprintf(p, "%s%c", sizes[chance(4)], kind);
		one(spec, v);
	}
	return failures ? 1 : 0;
}
