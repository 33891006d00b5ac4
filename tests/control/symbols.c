/*
 * Names of addresses of the symbol space: of this program's functions and libc's, by address and by name, and in the text of a
 * stack trace that lies in the buffer. An event's field that holds an address of this program has its name in a histogram, and
 * passes a filter by it.
 */
#include "control/program.h"

#include <search.h>

#include "control/symbols.h"
#include "layout/registry.h"
#include "runtime/runtime.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

struct stack_record {
	struct record_head head;
	int32_t size;
	int32_t fill;
	uint64_t caller[32];
};

static volatile int sink;

NOINLINE static void innermost(struct control *control)
{
	const struct state_buffer *top = &control->state.buffers[0];
	struct stack_record record = { .size = 0 };

	record.size = (int32_t)runtime_stack(record.caller, 31, 0);
	CHECK(record.size > 2, "%d frames", record.size);
	CHECK(!runtime_write_to(0, top->born, EVENT_ID_KERNEL_STACK, &record,
				offsetof(struct stack_record, caller[record.size]), 0), "not written");
	sink++;
}

NOINLINE static void middle(struct control *control)
{
	innermost(control);
	sink++;
}

static void check_address(struct control *control, const void *at, const char *name, const char *module)
{
	uint64_t address = runtime_symbol_address(at), start, end;
	struct decode_symbol symbol;
	char both[256];

	CHECK(address, "%s is nowhere", name);
	CHECK(control_symbol(control, address + 1, &symbol), "%s has no name", name);
	CHECK(!strcmp(symbol.name, name) && symbol.offset == 1 && symbol.size > 1, "%s+%llu/%llu, not %s", symbol.name,
	      (unsigned long long)symbol.offset, (unsigned long long)symbol.size, name);
	CHECK(!symbol.module, "of a program, and in %s", symbol.module);
	snprintf(both, sizeof(both), "%s [%s]", name, module);
	CHECK(control_function(control, both, &start, &end) && start == address && end > start + 1, "no function %s", both);
	CHECK(control_function(control, name, &start, &end), "no function %s", name);
}

static void check_strangers(struct control *control)
{
	struct decode_symbol symbol;
	uint64_t start, end;

	CHECK(!control_symbol(control, (uintptr_t)check_strangers, &symbol), "a raw address has a name");
	CHECK(!control_symbol(control, symbol_space_base(4000) + 5, &symbol), "nobody's address has a name");
	CHECK(!control_symbol(control, UINT64_MAX, &symbol), "no address has a name");
	CHECK(control_symbol(control, MARKER_IP, &symbol) && !strcmp(symbol.name, MARKER_NAME), "a marker's has none");
	CHECK(!control_function(control, "no_such_function_anywhere", &start, &end), "something is found");
	CHECK(!control_function(control, "middle [libnothing.so]", &start, &end), "something is found there");
	CHECK(!control_function(control, "", &start, &end) && !control_function(control, " []", &start, &end), "nothing is found");
}

NOINLINE static void check_trace(struct control *control)
{
	char *text;

	room_write(control, "trace_marker", "before", 0);
	CHECK(!control_refresh(control, NULL), "refresh");
	middle(control);
	text = room_read(control, "trace");
	CHECK(strstr(text, ": <stack trace>\n => innermost\n => middle\n => check_trace\n => main\n"), "'%s'", text);
	free(text);
	text = room_read(control, "events/ftrace/kernel_stack/format");
	CHECK(strstr(text, "name: kernel_stack\nID: 4\n"), "'%s'", text);
	free(text);
}

/* ---- Addresses in fields ---- */

#define LONG_SIZE (sizeof(long) == 8 ? "8" : "4")

struct call_record {
	struct record_head head;
	unsigned long site;
};

static struct item call_bring(void)
{
	struct item call;
	char body[1024];

	snprintf(body, sizeof(body), ITEM_COMMON "\tfield:unsigned long site;\toffset:8;\tsize:%s;\tsigned:0;\n\n"
		 "print fmt: \"site=%%lx\", REC->site\n", LONG_SIZE);
	CHECK(!runtime_event_intern("test", "call", body, strlen(body), 0, &call.id, &call.hint), "test:call");
	return call;
}

static void call_emit(const struct item *call, const void *from)
{
	struct call_record record = { .site = (unsigned long)(uintptr_t)from + 1 };

	if (__atomic_load_n(call->hint, __ATOMIC_RELAXED))
		runtime_write(call->id, &record, sizeof(record));
}

static void calls(const struct item *call)
{
	call_emit(call, (const void *)middle);
	call_emit(call, (const void *)innermost);
	call_emit(call, (const void *)middle);
	call_emit(call, (const void *)lfind);
	call_emit(call, (const void *)16);
}

/* The row of that name, which ends there. */
static void check_row(const char *text, const char *name, unsigned int hits)
{
	const char *at = strstr(text, name);

	CHECK(at && at > text && at[-1] == ' ', "no row of %s: '%s'", name, text);
	at += strlen(name);
	at += strspn(at, " ");
	CHECK(*at == '}' && (at = strstr(at, "hitcount:")) && strtoul(at + strlen("hitcount:"), NULL, 10) == hits,
	      "%s: not %u hits: '%s'", name, hits, text);
}

static unsigned int lines(struct control *control, const char *with)
{
	char *text = room_read(control, "trace"), *at = text;
	unsigned int n = 0;

	for (; (at = strstr(at, with)); at++)
		n++;
	free(text);
	return n;
}

static void check_fields(struct control *control)
{
	struct item call = call_bring();
	char *text;

	room_write(control, "trace", "", 0);
	/* Named before an event of this program happened. */
	room_write(control, "events/test/call/filter", "site.function == middle", 0);
	room_write(control, "events/test/call/enable", "1", 0);
	calls(&call);
	CHECK(lines(control, ": call: ") == 2, "%u pass", lines(control, ": call: "));
	room_write(control, "events/test/call/filter", "site.function != middle", 0);
	calls(&call);
	CHECK(lines(control, ": call: ") == 5, "%u pass", lines(control, ": call: "));
	room_write(control, "events/test/call/filter", "0", 0);
	room_write(control, "events/test/call/trigger", "hist:keys=site.sym", 0);
	calls(&call);
	text = room_read(control, "events/test/call/hist");
	check_row(text, "middle", 2);
	check_row(text, "innermost", 1);
	check_row(text, "lfind [libc.so.6]", 1);
	check_row(text, "0x11", 1);
	free(text);
	room_write(control, "events/test/call/trigger", "!hist:keys=site.sym", 0);
	room_write(control, "events/test/call/trigger", "hist:keys=site.sym-offset", 0);
	calls(&call);
	text = room_read(control, "events/test/call/hist");
	CHECK(strstr(text, "] middle+0x1/0x"), "'%s'", text);
	free(text);
	room_write(control, "events/test/call/enable", "0", 0);
}

int main(void)
{
	struct control *control = room_open();
	int r = runtime_attach(getenv("RINGSIDE_DIR"));

	CHECK(!r || r == -EALREADY, "%s", strerror(-r));
	check_address(control, (const void *)middle, "middle", "control_symbols");
	check_address(control, (const void *)innermost, "innermost", "control_symbols");
	check_strangers(control);
	check_trace(control);
	check_fields(control);
	control_close(control);
	return 0;
}
