/*
 * A runtime that keeps what it is told, in place of the real one (runtime/runtime.h): the tests see
 * every event text, hint word and record as bytes. For C and C++; one translation unit of a program
 * defines MOCK_MAIN.
 */
#ifndef TESTS_EVENT_MOCK_H
#define TESTS_EVENT_MOCK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "runtime/runtime.h"

struct mock_event {
	char system[64];
	char name[64];
	char body[8192];
	uint32_t related;
	uint32_t id;
	uint32_t hint;
	int interned;	/* how often */
};

struct mock_record {
	uint32_t id;
	uint32_t len;
	unsigned char data[RUNTIME_RECORD_MAX];
};

#define MOCK_MAX 64

extern struct mock_event mock_events[MOCK_MAX];
extern uint32_t mock_nevents;
extern struct mock_record mock_records[MOCK_MAX];
extern uint32_t mock_nrecords;
extern char mock_formats[MOCK_MAX][256];
extern char mock_functions[MOCK_MAX][64];
extern uint32_t mock_nformats;
extern uint32_t mock_builtin[32];
extern int mock_detached;
extern int mock_stages;		/* how many may be in use */
extern uint32_t mock_lost;
extern int mock_failures;

#define MOCK_BIAS 0x4000000100000000ull
#define MOCK_FORMATS 0x6000000000000000ull

#define CHECK(what, ...) \
	do { \
		if (!(what)) { \
			printf("FAIL %s:%d: %s: ", __FILE__, __LINE__, #what); \
			printf(__VA_ARGS__); \
			printf("\n"); \
			mock_failures++; \
		} \
	} while (0)

static inline struct mock_event *mock_find(const char *system, const char *name)
{
	for (uint32_t i = 0; i < mock_nevents; i++)
		if (!strcmp(mock_events[i].system, system) && !strcmp(mock_events[i].name, name))
			return &mock_events[i];
	printf("FAIL no event %s:%s was registered\n", system, name);
	exit(1);
}

/* The one record that was written since the last call; a program that wrote none ends. */
static inline const struct mock_record *mock_take(void)
{
	uint32_t n = mock_nrecords;

	mock_nrecords = 0;
	if (n == 1)
		return &mock_records[0];
	printf("FAIL %u records, where 1 was expected\n", n);
	exit(1);
}

static inline uint32_t mock_u32(const struct mock_record *record, uint32_t offset)
{
	uint32_t value;

	memcpy(&value, record->data + offset, sizeof(value));
	return value;
}

static inline uint64_t mock_u64(const struct mock_record *record, uint32_t offset)
{
	uint64_t value;

	memcpy(&value, record->data + offset, sizeof(value));
	return value;
}

/* Lines of two texts side by side; says which is the first that differs. */
static inline void mock_compare(const char *what, const char *is, const char *should)
{
	for (int line = 1; *is || *should; line++) {
		size_t a = strcspn(is, "\n"), b = strcspn(should, "\n");

		if (a != b || memcmp(is, should, a)) {
			printf("FAIL %s, line %d:\n  is     %.*s\n  should %.*s\n", what, line, (int)a, is,
			       (int)b, should);
			mock_failures++;
			return;
		}
		is += a + (is[a] == '\n');
		should += b + (should[b] == '\n');
	}
}

#define MOCK_COMMON \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
	"\n"

#ifdef MOCK_MAIN

struct mock_event mock_events[MOCK_MAX];
uint32_t mock_nevents;
struct mock_record mock_records[MOCK_MAX];
uint32_t mock_nrecords;
char mock_formats[MOCK_MAX][256];
char mock_functions[MOCK_MAX][64];
uint32_t mock_nformats;
uint32_t mock_builtin[32];
int mock_detached;
int mock_stages = 4;
uint32_t mock_lost;
int mock_failures;

static uint64_t mock_stage[4][4096 / 8];
static int mock_staged;

extern const uint32_t runtime_hint_off;
const uint32_t runtime_hint_off = 0;

int runtime_event_intern(const char *system, const char *name, const char *body, size_t body_len,
			 uint32_t related, uint32_t *id, const uint32_t **hint)
{
	struct mock_event *event = mock_events;

	if (mock_detached)
		return -107;
	for (; event < mock_events + mock_nevents; event++)
		if (!strcmp(event->system, system) && !strcmp(event->name, name) &&
		    strlen(event->body) == body_len && !memcmp(event->body, body, body_len) &&
		    event->related == related)
			goto found;
	if (mock_nevents == MOCK_MAX || body_len >= sizeof(event->body))
		return -28;
	snprintf(event->system, sizeof(event->system), "%s", system);
	snprintf(event->name, sizeof(event->name), "%s", name);
	memcpy(event->body, body, body_len);
	event->body[body_len] = '\0';
	event->related = related;
	event->id = 0x8000 + mock_nevents++;
	event->hint = 0;
found:
	event->interned++;
	*id = event->id;
	*hint = &event->hint;
	return 0;
}

const uint32_t *runtime_builtin_hint(uint32_t id)
{
	return mock_detached ? &runtime_hint_off : &mock_builtin[id];
}

int runtime_format_intern(uint64_t ip, const char *func, const char *format, uint64_t *address)
{
	uint32_t i = mock_nformats;

	(void)ip;
	if (mock_detached || i == MOCK_MAX)
		return -107;
	snprintf(mock_formats[i], sizeof(mock_formats[i]), "%s", format);
	snprintf(mock_functions[i], sizeof(mock_functions[i]), "%s", func);
	*address = MOCK_FORMATS + 16 * mock_nformats++;
	return 0;
}

uint64_t runtime_symbol_address(const void *address)
{
	return (uint64_t)(uintptr_t)address + MOCK_BIAS;
}

void runtime_write(uint32_t id, void *record, size_t len)
{
	static const unsigned char common[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct mock_record *to = &mock_records[mock_nrecords % MOCK_MAX];

	CHECK(len >= 8 && len <= RUNTIME_RECORD_MAX && len % 4 == 0, "len %zu", len);
	CHECK((uintptr_t)record % 8 == 0, "%p", record);
	memcpy(record, common, sizeof(common));
	to->id = id;
	to->len = (uint32_t)len;
	memset(to->data, 0, sizeof(to->data));
	/* The runtime copies by words of 8, so a record must be readable that far. */
	memcpy(to->data, record, (len + 7) & ~(size_t)7);
	memset(to->data + len, 0, sizeof(to->data) - len);
	mock_nrecords++;
}

/* Dirty, so that bytes which nobody wrote are seen. */
void *runtime_stage_get(void)
{
	if (mock_staged == mock_stages)
		return NULL;
	memset(mock_stage[mock_staged], 0xa5, sizeof(mock_stage[0]));
	return mock_stage[mock_staged++];
}

void runtime_stage_put(void *stage)
{
	mock_staged--;
	CHECK(stage == mock_stage[mock_staged], "stages are given back in order");
}

void runtime_lose(uint32_t id)
{
	(void)id;
	mock_lost++;
}

#endif

#ifdef __cplusplus
}
#endif

#endif
