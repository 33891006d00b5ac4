/*
 * event/printf: ringside_printf, whose format is stored once and whose arguments travel in binary
 * form.
 *
 * Registering a site reads its format: what every argument is (`kinds`), and the text that is
 * interned for readers. A call packs its arguments by those kinds into the kernel's bprint record,
 * as its vbin_printf does:
 *
 *   common 8 | ip 8 | address of the format 8 | arguments
 *
 * each of 4 bytes or 8, at a multiple of 4; strings as they are, with their NUL, at once behind
 * what is before.
 *
 * Doubles are 8 bytes, which the kernel has no use for. So that one text serves readers of every
 * width, long, size_t and pointers are 8 bytes in 32-bit programs as well. What readers do not know
 * is put into words that they do: short and char become int with the value cut to size, %c a
 * string, j and t lengths ll and l. What can not be said so at all is formatted on the spot, as
 * "%s".
 *
 * Registering runs in constructors, and at the first call of a site whose constructor has not run
 * yet; calls run in any thread and signal handler.
 */
#define RINGSIDE_INSIDE
#include <ringside/print.h>

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "event/local.h"
#include "layout/page.h"
#include "runtime/runtime.h"

enum kind {
	KIND_INT,
	KIND_S8,
	KIND_U8,
	KIND_S16,
	KIND_U16,
	KIND_LONG,
	KIND_ULONG,
	KIND_LLONG,
	KIND_POINTER,
	KIND_DOUBLE,
	KIND_CHAR,
	KIND_STRING,
	KIND_STRING_MAX,	/* the next byte is its precision */
	KIND_PRECISION,	 /* an int that is the precision of the string behind it, if one is */
};

enum { SITE_NEW, SITE_BUSY, SITE_READY };

struct bprint {
	struct record_head head;
	uint64_t ip;
	uint64_t format;
};

/* Most room that one argument other than a string takes, gap included; a string takes a byte. */
#define ARG_MAX 12u

/* ---- The format ---- */

struct spec {
	const char *flags;	/* flags, width and precision as written */
	size_t flags_len;
	int length;	/* 'h', 'H' for hh, 'l', 'L' for ll, 'z', 'D' for long double, 0 */
	char conversion;
	bool precise;	/* a precision is given */
	bool star;	/* and is an argument */
	unsigned precision;
};

static bool add_kind(struct ringside_format *site, int kind)
{
	if (site->nkinds == RINGSIDE_FORMAT_ARGS)
		return false;
	site->kinds[site->nkinds++] = (uint8_t)kind;
	return true;
}

static const char *read_number(const char *p, unsigned *value)
{
	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++)
		*value = *value < 100000 ? *value * 10 + (unsigned)(*p - '0') : *value;
	return p;
}

static const char *read_length(const char *p, struct spec *spec)
{
	switch (*p) {
	case 'h':
		spec->length = p[1] == 'h' ? 'H' : 'h';
		return p + (p[1] == 'h' ? 2 : 1);
	case 'l':
		spec->length = p[1] == 'l' ? 'L' : 'l';
		return p + (p[1] == 'l' ? 2 : 1);
	case 'q':
	case 'j':
		spec->length = 'L';
		return p + 1;
	case 't':
		spec->length = 'l';
		return p + 1;
	case 'z':
		spec->length = 'z';
		return p + 1;
	case 'L':
		spec->length = 'D';
		return p + 1;
	default:
		return p;
	}
}

/* One conversion from behind its % on; NULL when there is something in it that can not be
 * packed. */
static const char *read_spec(struct ringside_format *site, const char *p, struct spec *spec)
{
	unsigned width;

	*spec = (struct spec){ .flags = p };
	p += strspn(p, "-+ #0'");
	if (*p == '*') {
		if (!add_kind(site, KIND_INT))
			return NULL;
		p++;
	} else {
		p = read_number(p, &width);
	}
	if (*p == '.') {
		spec->precise = true;
		spec->star = *++p == '*';
		if (spec->star)
			p++;
		else
			p = read_number(p, &spec->precision);
	}
	spec->flags_len = (size_t)(p - spec->flags);
	/* '$': numbered arguments, whose order is not that of the call. */
	if (*p == '$' || memchr(spec->flags, '$', spec->flags_len))
		return NULL;
	p = read_length(p, spec);
	spec->conversion = *p;
	return *p ? p + 1 : NULL;
}

static int integer_kind(const struct spec *spec)
{
	bool is_signed = spec->conversion == 'd' || spec->conversion == 'i';

	switch (spec->length) {
	case 'H':
		return is_signed ? KIND_S8 : KIND_U8;
	case 'h':
		return is_signed ? KIND_S16 : KIND_U16;
	case 'l':
	case 'z':
		return is_signed ? KIND_LONG : KIND_ULONG;
	case 'L':
		return KIND_LLONG;
	default:
		return spec->length ? -1 : KIND_INT;
	}
}

static bool add_string(struct ringside_format *site, const struct spec *spec)
{
	if (spec->length || spec->precision > UINT8_MAX)
		return false;
	if (!spec->precise || spec->star)
		return add_kind(site, KIND_STRING);
	return add_kind(site, KIND_STRING_MAX) && add_kind(site, (int)spec->precision);
}

/* Adds what the conversion's argument is to the site; false when it can not be packed. */
static bool add_argument(struct ringside_format *site, const struct spec *spec)
{
	int kind;

	if (spec->star && !add_kind(site, KIND_PRECISION))
		return false;
	switch (spec->conversion) {
	case 'd':
	case 'i':
	case 'u':
	case 'o':
	case 'x':
	case 'X':
		kind = integer_kind(spec);
		return kind >= 0 && add_kind(site, kind);
	case 'c':
		return !spec->length && add_kind(site, KIND_CHAR);
	case 's':
		return add_string(site, spec);
	case 'p':
		return add_kind(site, KIND_POINTER);
	case 'a':
	case 'A':
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G':
		return (!spec->length || spec->length == 'l') && add_kind(site, KIND_DOUBLE);
	default:
		return false;
	}
}

struct text {
	char *data;
	size_t len;
	size_t max;
};

static void text_add(struct text *text, const char *bytes, size_t len)
{
	if (len > text->max - text->len)
		len = text->max - text->len;
	memcpy(text->data + text->len, bytes, len);
	text->len += len;
}

static void text_spec(struct text *text, const struct spec *spec)
{
	bool integer = strchr("diuoxX", spec->conversion);

	text_add(text, "%", 1);
	text_add(text, spec->flags, spec->flags_len);
	if (integer && spec->length == 'L')
		text_add(text, "ll", 2);
	else if (integer && spec->length == 'l')
		text_add(text, "l", 1);
	else if (spec->length == 'z')
		text_add(text, "z", 1);
	text_add(text, spec->conversion == 'c' ? "s" : &spec->conversion, 1);
}

/* Fills in the kinds and the text for readers; false when it has to be formatted on the spot. */
static bool read_format(struct ringside_format *site, struct text *text)
{
	const char *p = site->format;
	struct spec spec;

	while (*p) {
		size_t plain = strcspn(p, "%");

		text_add(text, p, plain);
		p += plain;
		if (!*p)
			break;
		if (p[1] == '%') {
			text_add(text, p, 2);
			p += 2;
			continue;
		}
		p = read_spec(site, p + 1, &spec);
		if (!p || !add_argument(site, &spec))
			return false;
		text_spec(text, &spec);
	}
	if (text->len && text->data[text->len - 1] != '\n')
		text_add(text, "\n", 1);
	return text->len < text->max;
}

/* ---- Sites ---- */

static void intern(struct ringside_format *site, uint64_t bias, char *scratch)
{
	struct text text = { .data = scratch, .max = RUNTIME_RECORD_MAX - 1 };

	site->bias = bias;
	if (read_format(site, &text)) {
		scratch[text.len] = '\0';
	} else {
		site->as_text = 1;
		strcpy(scratch, "%s");
	}
	if (!runtime_format_intern((uint64_t)(uintptr_t)site + bias, site->function, scratch,
				   &site->address))
		__atomic_store_n(&site->hint, runtime_builtin_hint(EVENT_ID_BPRINT),
				 __ATOMIC_RELEASE);
}

/* Once for each site, whoever comes first; without a directory it just stops asking. */
static void start(struct ringside_format *site, uint64_t bias, char *scratch)
{
	uint8_t new = SITE_NEW;

	if (site->abi != RINGSIDE_ABI ||
	    !__atomic_compare_exchange_n(&site->state, &new, SITE_BUSY, false, __ATOMIC_ACQUIRE,
					 __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&site->hint, &runtime_hint_off, __ATOMIC_RELEASE);
	if (scratch)
		intern(site, bias, scratch);
	/* Partner: ringside_format_write. */
	__atomic_store_n(&site->state, SITE_READY, __ATOMIC_RELEASE);
}

RINGSIDE_API void ringside_format_register(struct ringside_format *const *from,
					   struct ringside_format *const *to)
{
	uint64_t bias = 0;
	char *scratch = NULL;
	int saved = errno;

	/* Each file of a program comes with all sites of the program. */
	while (from < to && (!*from || (*from)->state != SITE_NEW))
		from++;
	if (from == to)
		return;
	/* All of them are in one ELF file, so one distance serves all. */
	if (event_attached()) {
		bias = runtime_symbol_address(*from) - (uint64_t)(uintptr_t)*from;
		scratch = runtime_stage_get();
	}
	for (; from < to; from++)
		if (*from)
			start(*from, bias, scratch);
	if (scratch)
		runtime_stage_put(scratch);
	errno = saved;
}

/* ---- Calls ---- */

struct packer {
	char *record;
	uint32_t at;
	uint32_t max;
	bool cut;	/* strings that do not fit are cut; else they are a reason to fail */
};

static bool pack(struct packer *packer, const void *value, uint32_t size)
{
	packer->at = (packer->at + 3) & ~3u;
	if (packer->max - packer->at < size)
		return false;
	memcpy(packer->record + packer->at, value, size);
	packer->at += size;
	return true;
}

static bool pack_int(struct packer *packer, int value)
{
	return pack(packer, &value, 4);
}

static bool pack_long(struct packer *packer, uint64_t value)
{
	return pack(packer, &value, 8);
}

/* `left` arguments are behind it, and keep the room they need. */
static bool pack_string(struct packer *packer, const char *text, size_t precision, unsigned left)
{
	uint32_t room = packer->max - packer->at, need = left * ARG_MAX + 1;
	size_t len;

	if (room < need)
		return false;
	room -= need;
	if (!text)
		text = "(null)";
	len = strnlen(text, precision < room ? precision : (size_t)room + 1);
	if (len > room) {
		if (!packer->cut)
			return false;
		len = room;
	}
	memcpy(packer->record + packer->at, text, len);
	packer->record[packer->at + len] = '\0';
	packer->at += (uint32_t)len + 1;
	return true;
}

static bool pack_one(struct packer *packer, const struct ringside_format *site, unsigned *i,
		     size_t *precision, va_list *args)
{
	unsigned left = site->nkinds - *i - 1u;
	char letter[2] = "";
	size_t max = *precision;
	double d;
	int n;

	*precision = SIZE_MAX;
	switch (site->kinds[*i]) {
	case KIND_S8:
		return pack_int(packer, (int8_t)va_arg(*args, int));
	case KIND_U8:
		return pack_int(packer, (uint8_t)va_arg(*args, int));
	case KIND_S16:
		return pack_int(packer, (int16_t)va_arg(*args, int));
	case KIND_U16:
		return pack_int(packer, (uint16_t)va_arg(*args, int));
	case KIND_LONG:
		return pack_long(packer, (uint64_t)(int64_t)va_arg(*args, long));
	case KIND_ULONG:
		return pack_long(packer, va_arg(*args, unsigned long));
	case KIND_LLONG:
		return pack_long(packer, va_arg(*args, unsigned long long));
	case KIND_POINTER:
		return pack_long(packer, (uintptr_t)va_arg(*args, void *));
	case KIND_DOUBLE:
		d = va_arg(*args, double);
		return pack(packer, &d, 8);
	case KIND_CHAR:
		letter[0] = (char)va_arg(*args, int);
		return pack_string(packer, letter, 1, left);
	case KIND_STRING_MAX:
		max = site->kinds[++*i];
		return pack_string(packer, va_arg(*args, const char *), max, left - 1);
	case KIND_STRING:
		return pack_string(packer, va_arg(*args, const char *), max, left);
	case KIND_PRECISION:
		n = va_arg(*args, int);
		*precision = n < 0 ? SIZE_MAX : (size_t)n;
		return pack_int(packer, n);
	default:
		return pack_int(packer, va_arg(*args, int));
	}
}

/* The arguments behind the fixed part; 0 when they do not fit. */
static uint32_t pack_all(const struct ringside_format *site, struct packer *packer, va_list args)
{
	size_t precision = SIZE_MAX;
	va_list copy;
	bool fits = true;

	va_copy(copy, args);
	packer->at = sizeof(struct bprint);
	for (unsigned i = 0; fits && i < site->nkinds; i++)
		fits = pack_one(packer, site, &i, &precision, &copy);
	va_end(copy);
	if (!fits)
		return 0;
	memset(packer->record + packer->at, 0, -packer->at & 3);
	return (packer->at + 3) & ~3u;
}

static uint32_t format_all(struct packer *packer, const char *format, va_list args)
{
	char *text = packer->record + sizeof(struct bprint);
	size_t room = packer->max - sizeof(struct bprint);
	int n = vsnprintf(text, room - 1, format, args);
	size_t len = n < 0 ? 0 : (size_t)n < room - 1 ? (size_t)n : room - 2;

	if (!len || text[len - 1] != '\n')
		text[len++] = '\n';
	text[len++] = '\0';
	memset(text + len, 0, -len & 3);
	return (uint32_t)(sizeof(struct bprint) + ((len + 3) & ~(size_t)3));
}

static void write_record(const struct ringside_format *site, void *record, uint32_t len,
			 uint64_t ip)
{
	struct bprint *bprint = record;

	bprint->ip = ip;
	bprint->format = site->address;
	runtime_write(EVENT_ID_BPRINT, record, len);
}

/* What is formatted on the spot, or too long for the stack. */
static __attribute__((noinline)) void write_staged(const struct ringside_format *site,
						   const char *format, va_list args, uint64_t ip)
{
	struct packer packer = { .record = runtime_stage_get(),
				 .max = RUNTIME_RECORD_MAX,
				 .cut = true };
	uint32_t len;
	int saved = errno;

	if (!packer.record) {
		runtime_lose(EVENT_ID_BPRINT);
		return;
	}
	len = site->as_text ? format_all(&packer, format, args) : pack_all(site, &packer, args);
	write_record(site, packer.record, len, ip);
	runtime_stage_put(packer.record);
	errno = saved;
}

RINGSIDE_API void ringside_format_write(struct ringside_format *site, const char *format, ...)
{
	uint64_t record[RINGSIDE_STACK_MAX / 8];
	struct packer packer = { .record = (char *)record, .max = sizeof(record) };
	uint64_t ip;
	va_list args;
	uint32_t len = 0;

	if (__atomic_load_n(&site->state, __ATOMIC_ACQUIRE) != SITE_READY) {
		ringside_format_register(&site, &site + 1);
		if (!*site->hint)
			return;
	}
	ip = (uint64_t)(uintptr_t)__builtin_return_address(0) + site->bias;
	va_start(args, format);
	if (!site->as_text)
		len = pack_all(site, &packer, args);
	if (len)
		write_record(site, record, len, ip);
	else
		write_staged(site, format, args, ip);
	va_end(args);
}
