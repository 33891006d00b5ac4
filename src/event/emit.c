/*
 * event/emit: registering declared events, and putting together the records that their sites do
 * not.
 *
 * A site makes a record of up to RINGSIDE_STACK_MAX bytes by itself (ringside/event.h) and hands it
 * to runtime_write. Everything else comes through here as a structure of arguments and a table of
 * fields: longer records, events that ride on another one's sites, events defined at run time. The
 * two ways make the same bytes:
 *
 *   common 8 | fields, as C aligns them | dynamic parts, each at a multiple of 4, zeros between
 *
 * Registering runs in constructors, dlopen and ordinary code; the rest in any thread and signal
 * handler.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "event/local.h"
#include "layout/page.h"
#include "runtime/runtime.h"

static_assert(RINGSIDE_RECORD_MAX == RUNTIME_RECORD_MAX, "public and private limit");

/* A dynamic part, however little room there is: an empty string, or nothing. */
#define PART_MIN 4u

bool event_attached(void)
{
	return runtime_builtin_hint(EVENT_ID_PRINT) != &runtime_hint_off;
}

int event_intern(struct ringside_event *event, const struct ringside_field *fields,
		 uint32_t related)
{
	struct buf text = BUF_INIT;
	const uint32_t *hint = NULL;
	uint32_t id = 0;
	int err;

	event_format_text(&text, fields, event->print);
	err = buf_failed(&text) ? -ENOMEM
				: runtime_event_intern(event->system, event->name, text.data,
						       text.len, related, &id, &hint);
	buf_fini(&text);
	if (err)
		return err;
	event->id = id;
	event->write = runtime_write;
	/* Sites that find the new word find the rest, too. */
	__atomic_store_n(&event->hint, hint, __ATOMIC_RELEASE);
	return 0;
}

RINGSIDE_API void ringside_event_register(struct ringside_event *event,
					  const struct ringside_field *fields)
{
	int saved = errno;

	if (event->abi != RINGSIDE_ABI || event->id)
		return;
	event->fields = fields;
	event->shape = event_shape(fields);
	if (event_attached())
		event_intern(event, fields, 0);
	errno = saved;
}

uint32_t event_shape(const struct ringside_field *fields)
{
	uint32_t hash = 2166136261u;

	for (; fields->name; fields++) {
		const uint32_t parts[] = { fields->kind, fields->arg, fields->arg_size,
					   fields->count };

		for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
			hash = (hash ^ parts[i]) * 16777619u;
	}
	return hash;
}

static bool dynamic(const struct ringside_field *field)
{
	return field->kind == RINGSIDE_STRING || field->kind == RINGSIDE_STRING_N ||
	       field->kind == RINGSIDE_SEQUENCE || field->kind == RINGSIDE_BITMASK;
}

uint32_t event_record_fixed(const struct ringside_field *fields)
{
	uint32_t end = sizeof(struct record_head);

	for (; fields->name; fields++) {
		uint32_t size = dynamic(fields) ? 4 : fields->size * fields->count;

		if (fields->offset + size > end)
			end = fields->offset + size;
	}
	return (end + 3) & ~3u;
}

struct number {
	bool real;
	double d;
	uint64_t u;
	bool is_signed;
};

static struct number read_number(const struct ringside_field *field, const char *arg)
{
	struct number n = { .is_signed = field->arg_signed };
	float f;

	if (field->arg_class == RINGSIDE_FLOAT) {
		n.real = true;
		if (field->arg_size == sizeof(f)) {
			memcpy(&f, arg, sizeof(f));
			n.d = (double)f;
		} else {
			memcpy(&n.d, arg, sizeof(n.d));
		}
		return n;
	}
	n.u = ringside_bits(arg, field->arg_size);
	if (n.is_signed && field->arg_size < 8) {
		unsigned shift = 64 - field->arg_size * 8u;

		n.u = (uint64_t)((int64_t)(n.u << shift) >> shift);
	}
	return n;
}

/* As a C cast would, and where that is undefined the nearest number. */
static uint64_t to_integer(double d)
{
	if (d != d)
		return 0;
	if (d <= -9223372036854775808.0)
		return (uint64_t)INT64_MIN;
	if (d < 9223372036854775808.0)
		return (uint64_t)(int64_t)d;
	return d < 18446744073709551616.0 ? (uint64_t)d : UINT64_MAX;
}

static void put_number(char *to, const struct ringside_field *field, const char *arg)
{
	struct number n = read_number(field, arg);
	uint64_t u;
	double d;
	float f;

	if (field->type_class == RINGSIDE_FLOAT) {
		d = n.real ? n.d : n.is_signed ? (double)(int64_t)n.u : (double)n.u;
		f = (float)d;
		memcpy(to, field->size == sizeof(f) ? (void *)&f : (void *)&d, field->size);
		return;
	}
	u = n.real ? to_integer(n.d) : n.u;
	if (field->type_class == RINGSIDE_BOOL)
		u = n.real ? n.d != 0 : n.u != 0;
	switch (field->size) {
	case 1:
		*(uint8_t *)to = (uint8_t)u;
		break;
	case 2:
		memcpy(to, &(uint16_t){ (uint16_t)u }, 2);
		break;
	case 4:
		memcpy(to, &(uint32_t){ (uint32_t)u }, 4);
		break;
	default:
		memcpy(to, &u, 8);
	}
}

/* What a pointer among the arguments points to, and how much of it there is. */
struct part {
	const char *from;
	size_t count;
};

static struct part read_part(const char *arg)
{
	struct part part;

	memcpy(&part.from, arg, sizeof(part.from));
	memcpy(&part.count, arg + sizeof(part.from), sizeof(part.count));
	return part;
}

static void put_array(char *to, const struct ringside_field *field, const char *arg)
{
	size_t count = field->count;
	struct part part;

	if (field->kind == EVENT_ARRAY_N) {
		part = read_part(arg);
		count = part.count < count ? part.count : count;
	} else {
		memcpy(&part.from, arg, sizeof(part.from));
	}
	if (!part.from)
		return;
	if (field->type_class == RINGSIDE_CHAR)
		count = strnlen(part.from, count);
	memcpy(to, part.from, count * field->size);
}

/* Copies up to `room` bytes, a NUL included; returns how many. */
static uint32_t put_string(char *to, const struct ringside_field *field, const char *arg,
			   uint32_t room)
{
	struct part part;
	size_t len;

	if (field->kind == RINGSIDE_STRING_N) {
		part = read_part(arg);
	} else {
		memcpy(&part.from, arg, sizeof(part.from));
		part.count = SIZE_MAX;
	}
	if (!part.from)
		part = (struct part){ "(null)", 6 };
	len = room - 1;
	if (part.count == SIZE_MAX)
		len = strnlen(part.from, len);
	else if (part.count < len)
		len = part.count;
	memcpy(to, part.from, len);
	to[len] = '\0';
	return (uint32_t)len + 1;
}

static uint32_t put_sequence(char *to, const struct ringside_field *field, const char *arg,
			     uint32_t room)
{
	struct part part = read_part(arg);
	size_t count = room / field->size;

	if (!part.from)
		return 0;
	if (part.count < count)
		count = part.count;
	memcpy(to, part.from, count * field->size);
	return (uint32_t)(count * field->size);
}

static uint32_t put_bitmask(char *to, const char *arg, uint32_t room)
{
	struct part part = read_part(arg);
	size_t words = room / 8, bytes, bits = part.count;
	uint64_t last;

	if (!part.from)
		return 0;
	if (bits > words * 64)
		bits = words * 64;
	words = bits / 64 + !!(bits % 64);
	bytes = (bits + sizeof(long) * 8 - 1) / (sizeof(long) * 8) * sizeof(long);
	memset(to, 0, words * 8);
	memcpy(to, part.from, bytes);
	if (bits % 64) {
		memcpy(&last, to + words * 8 - 8, 8);
		last &= ((uint64_t)1 << bits % 64) - 1;
		memcpy(to + words * 8 - 8, &last, 8);
	}
	return (uint32_t)words * 8;
}

static uint32_t put_part(char *to, const struct ringside_field *field, const char *arg,
			 uint32_t room)
{
	switch (field->kind) {
	case RINGSIDE_SEQUENCE:
		return put_sequence(to, field, arg, room);
	case RINGSIDE_BITMASK:
		return put_bitmask(to, arg, room);
	default:
		return put_string(to, field, arg, room);
	}
}

uint32_t event_record_fill(void *record, const struct ringside_field *fields, uint32_t fixed,
			   const void *args)
{
	char *base = record;
	uint32_t at = fixed, parts = 0, size, loc;

	memset(base, 0, fixed);
	for (const struct ringside_field *f = fields; f->name; f++) {
		if (dynamic(f))
			parts++;
		else if (f->kind == RINGSIDE_ARRAY || f->kind == EVENT_ARRAY_N)
			put_array(base + f->offset, f, (const char *)args + f->arg);
		else
			put_number(base + f->offset, f, (const char *)args + f->arg);
	}
	for (const struct ringside_field *f = fields; f->name; f++) {
		if (!dynamic(f))
			continue;
		/* The first one may not take the last byte from those behind it. */
		parts--;
		size = put_part(base + at, f, (const char *)args + f->arg,
				RINGSIDE_RECORD_MAX - at - parts * PART_MIN);
		loc = at | size << 16;
		memcpy(base + f->offset, &loc, sizeof(loc));
		memset(base + at + size, 0, -size & 3);
		at += (size + 3) & ~3u;
	}
	return at;
}

void event_record_write(uint32_t id, const struct ringside_field *fields, uint32_t fixed,
			const void *args)
{
	void *record = runtime_stage_get();

	if (!record) {
		runtime_lose(id);
		return;
	}
	runtime_write(id, record, event_record_fill(record, fields, fixed, args));
	runtime_stage_put(record);
}

RINGSIDE_API void ringside_event_compose(const struct ringside_event *event, const void *args)
{
	uint32_t wanted = __atomic_load_n(event->hint, __ATOMIC_RELAXED);

	if (!event->id)
		return;
	if (wanted & RINGSIDE_THIS)
		event_record_write(event->id, event->fields, event_record_fixed(event->fields),
				   args);
	if (wanted & RINGSIDE_RIDER)
		event_custom_write(event, args);
	/* Stacks are told by this function's frame (runtime/stack.c): no jump there. */
	__asm__ volatile("");
}

RINGSIDE_API const char *ringside_version(void)
{
	return RINGSIDE_VERSION;
}
