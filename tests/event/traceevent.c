/*
 * Stock readers understand the texts: libtraceevent parses them and prints our records with them,
 * declared events, defined ones and ringside_printf alike.
 */
#include <stdio.h>
#if defined(__has_include) && __has_include(<traceevent/event-parse.h>)

#define MOCK_MAIN
#include "event/mock.h"

#include <dlfcn.h>
#include <ringside/define.h>
#include <ringside/print.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

#include "event/every_field.h"

enum state { LOW = -1, HIGH = 1 };

RINGSIDE_EVENT(all, defaults,
	field(long, l),
	field(size_t, z),
	field(bool, b),
	field(short, s),
	field(void *, p),
	symbols(enum state, state, {LOW, "low"}, {HIGH, "high"}),
	flags(uint64_t, how, {1, "one"}, {1ull << 40, "far"}),
	string(text),
	array(unsigned, words, 2),
	sequence(uint16_t, halves),
	bitmask(cpus))

static struct tep_handle *(*alloc_)(void);
static enum tep_errno (*parse_)(struct tep_handle *, const char *, unsigned long, const char *);
static void (*print_)(struct tep_handle *, struct trace_seq *, struct tep_record *, const char *, ...);
static int (*string_)(struct tep_handle *, const char *, unsigned long long);
static int (*function_)(struct tep_handle *, char *, unsigned long long, char *);
static void (*long_size_)(struct tep_handle *, int);
static void (*seq_init_)(struct trace_seq *);
static int (*terminate_)(struct trace_seq *);

static struct tep_handle *tep;

static int load(void)
{
	static const struct {
		const char *name;
		void *function;
	} table[] = {
		{ "tep_alloc", &alloc_ },
		{ "tep_parse_event", &parse_ },
		{ "tep_print_event", &print_ },
		{ "tep_register_print_string", &string_ },
		{ "tep_register_function", &function_ },
		{ "tep_set_long_size", &long_size_ },
		{ "trace_seq_init", &seq_init_ },
		{ "trace_seq_terminate", &terminate_ },
	};
	void *library = dlopen("libtraceevent.so.1", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof(table) / sizeof(table[0]); i++) {
		void *symbol = dlsym(library, table[i].name);

		if (!symbol)
			return -1;
		memcpy(table[i].function, &symbol, sizeof(symbol));
	}
	return library ? 0 : -1;
}

static void parse(const char *system, const char *name, uint32_t id, const char *body)
{
	static char text[16384];
	int n = snprintf(text, sizeof(text), "name: %s\nID: %u\nformat:\n%s\n", name, id, body);

	CHECK(!parse_(tep, text, (unsigned long)n, system), "%s:%s does not parse:\n%s", system, name, text);
}

static void check_print(const struct mock_record *r, const char *should)
{
	struct tep_record record;
	struct trace_seq seq;
	unsigned char data[RUNTIME_RECORD_MAX];
	uint16_t id = (uint16_t)r->id;
	size_t len;

	memcpy(data, r->data, r->len);
	memcpy(data, &id, 2);
	memset(&record, 0, sizeof(record));
	record.data = data;
	record.size = (int)r->len;
	seq_init_(&seq);
	print_(tep, &seq, &record, "%s", TEP_PRINT_INFO);
	terminate_(&seq);
	len = strlen(seq.buffer);
	if (len && seq.buffer[len - 1] == '\n')
		seq.buffer[len - 1] = '\0';
	CHECK(!strcmp(seq.buffer, should), "\n  is     %s\n  should %s", seq.buffer, should);
}

static void check_declared(void)
{
	static const unsigned words[2] = { 3, 0xffff };
	static const uint16_t halves[3] = { 1, 2, 3 };
	static const unsigned long cpus[1] = { 0xf };
	struct mock_event *event = mock_find("every", "field");

	parse("every", "field", event->id, event->body);
	event->hint = 1;
	EVERY_TRACE();
	check_print(mock_take(), "-70000 122 odd gift|top some text piece 3 1311768467463790320 x%y "
				 "1 2 3 4 5 6 sh 300 \"q\" 10 4294967276 30");
	event = mock_find("all", "defaults");
	parse("all", "defaults", event->id, event->body);
	event->hint = 1;
	trace_all_defaults(-5, 6, true, -7, (void *)0x1234, HIGH, 1ull << 40 | 1, "text", words, halves, 3,
			   cpus, 4);
	check_print(mock_take(), "l=-5 z=6 b=1 s=-7 p=0x1234 state=high how=one|far text=text "
				 "words=3 65535 halves=1 2 3 cpus=00000000,0000000f");
	trace_all_defaults(-5, 6, true, -7, (void *)0x1234, LOW, 0, NULL, words, halves, 0, cpus, 0);
	check_print(mock_take(), "l=-5 z=6 b=1 s=-7 p=0x1234 state=low how= text=(null) "
				 "words=3 65535 halves= cpus=");
}

static void check_defined(void)
{
	struct ringside_defined *event = ringside_define("py", "sale", "u32 item; string who; u8 kind",
		"\"item=%u who=%s kind=%s\", item, who, __print_symbolic(kind, { 0, \"a\" }, { 7, \"b\" })",
		NULL, 0);
	union ringside_value v[3] = { { .u = 4000000000u }, { .bytes = { "bob", 3 } }, { .u = 7 } };

	mock_find("py", "sale")->hint = 1;
	parse("py", "sale", mock_find("py", "sale")->id, mock_find("py", "sale")->body);
	ringside_emit(event, v, 3);
	check_print(mock_take(), "item=4000000000 who=bob kind=b");
}

static void check_printf(void)
{
	static char name[] = "a_function", next[] = "beyond";

	parse("ftrace", "bprint", 6, MOCK_COMMON
	      "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	      "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
	      "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n"
	      "\nprint fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt");
	function_(tep, name, 1ull << 62, NULL);
	function_(tep, next, 1ull << 63, NULL);
	for (uint32_t i = 0; i < mock_nformats; i++)
		string_(tep, mock_formats[i], MOCK_FORMATS + 16 * i);
	mock_builtin[6] = 1;
	ringside_printf("%s %d %lu %c %s %hd", "text", -5, 99ul, 'x', "more", (short)-3);
	check_print(mock_take(), "a_function: text -5 99 x more -3");
	ringside_printf("%5u|%08lx|%zu|%lld\n", 7u, 0xabcul, (size_t)1 << 33, -1ll);
	check_print(mock_take(), "a_function:     7|00000abc|8589934592|-1");
	ringside_printf("%.*s and %.3s", 2, "abc", "defgh");
	check_print(mock_take(), "a_function: ab and def");
}

int main(void)
{
	if (load()) {
		printf("libtraceevent.so.1 is not installed\n");
		return 77;
	}
	tep = alloc_();
	long_size_(tep, 8);
	check_declared();
	check_defined();
	check_printf();
	return mock_failures != 0;
}

#else

int main(void)
{
	printf("libtraceevent's headers are not installed\n");
	return 77;
}

#endif
