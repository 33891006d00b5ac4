/*
 * symbol/fetch: see fetch.h.
 */
#include "symbol/fetch.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static const char *const values[] = {
	"u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64", "x8", "x16", "x32", "x64", "char", "symbol", "symstr",
};

size_t fetch_word(const char *text)
{
	size_t n = 0;

	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

bool fetch_is_value(const char *type)
{
	size_t len = strcspn(type, "[");

	if (type[0] == 'b' && isdigit((unsigned char)type[1]))
		return true;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strlen(values[i]) == len && !strncmp(type, values[i], len))
			return true;
	return false;
}

void fetch_put_bits(struct buf *out, uint32_t bits, uint32_t shift, uint32_t unit)
{
	buf_printf(out, ":b%u@%u/%u", bits, shift, unit * 8);
}

void fetch_put_loads(struct buf *out, const char *base, const int64_t *add, uint32_t n, uint32_t user)
{
	for (uint32_t i = n; i--;)
		buf_printf(out, "%c%s%" PRIu64 "(", add[i] < 0 ? '-' : '+', user >> i & 1 ? "u" : "",
			   add[i] < 0 ? -(uint64_t)add[i] : (uint64_t)add[i]);
	buf_puts(out, base);
	for (uint32_t i = 0; i < n; i++)
		buf_putc(out, ')');
}
