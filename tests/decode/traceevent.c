/*
 * Print formats on records made by chance, printed by us and by libtraceevent, the library that
 * trace-cmd and perf print with. Only what both are meant to print alike is here: libtraceevent has
 * pointers with 0x, takes small negative numbers for large ones, misreads some ternaries, and so
 * on.
 *
 * The library is loaded at run time; where it is missing, or its header was when this was built,
 * the test skips.
 */
#include "event.h"

#if defined(__has_include) && __has_include(<traceevent/event-parse.h>)
#include <dlfcn.h>
#include <traceevent/event-parse.h>
#include <traceevent/trace-seq.h>

static const char *const formats[] = {
	"\"%u %u %d %u\", REC->u8, REC->u16, REC->s32, REC->u32",
	"\"%lld %llu %llx %lx %ld\", REC->s64, REC->u64, REC->u64, REC->u64, REC->s64",
	"\"[%8d] [%-8u] [%08x] [%4llx]\", REC->s32, REC->u32, REC->u32, REC->u64",
	"\"%s|%16s|%-16s|\", REC->name, REC->name, REC->name",
	"\"%s n=%d\", __get_str(text), REC->s32",
	"\"%s\", __print_flags(REC->flags, \"|\", { 1, \"A\" }, { 2, \"B\" }, { 4, \"C\" }, { 8, "
	"\"D\" })",
	"\"%s\", __print_flags(REC->flags, \"+\", { 3, \"AB\" }, { 1 << 4, \"E\" })",
	"\"%s\", __print_symbolic(REC->u8, { 0, \"zero\" }, { 1, \"one\" }, { 200, \"many\" })",
	"\"%s %s\", __print_hex(REC->mac, 6), __print_hex_str(REC->mac, 6)",
	"\"%d,%d\", ((unsigned int) ((REC->u32) >> 20)), ((unsigned int) ((REC->u32) & ((1U << "
	"20) - 1)))",
	"\"%s %d\", REC->yes ? \"yes\" : \"no\", REC->u16 > 100 ? REC->u8 : REC->u16",
	"\"%d %d\", REC->u8 && REC->u16, !REC->u8 || REC->u16 == 7",
	"\"%u %u\", REC->arr[1], REC->arr[3]",
	"\"%pM %pI6c %pI6 100%%\", REC->mac, REC->arr, REC->arr",
};

static struct {
	struct tep_handle *(*alloc)(void);
	void (*free)(struct tep_handle *);
	enum tep_errno (*parse)(struct tep_handle *, const char *, unsigned long, const char *);
	void (*print)(struct tep_handle *, struct trace_seq *, struct tep_record *, const char *,
		      ...);
	void (*seq_init)(struct trace_seq *);
	void (*seq_destroy)(struct trace_seq *);
	void (*seq_terminate)(struct trace_seq *);
} lib;

static bool load(void)
{
	void *h = dlopen("libtraceevent.so.1", RTLD_NOW);

	if (!h)
		return false;
	*(void **)&lib.alloc = dlsym(h, "tep_alloc");
	*(void **)&lib.free = dlsym(h, "tep_free");
	*(void **)&lib.parse = dlsym(h, "tep_parse_event");
	*(void **)&lib.print = dlsym(h, "tep_print_event");
	*(void **)&lib.seq_init = dlsym(h, "trace_seq_init");
	*(void **)&lib.seq_destroy = dlsym(h, "trace_seq_destroy");
	*(void **)&lib.seq_terminate = dlsym(h, "trace_seq_terminate");
	return lib.alloc && lib.free && lib.parse && lib.print && lib.seq_init && lib.seq_destroy &&
	       lib.seq_terminate;
}

static uint64_t seed = 1;

static uint64_t chance(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33 | seed << 31) >> (seed >> 60) * 4;
}

static struct sample any_record(void)
{
	struct sample r = sample_record();

	r.s8 = (int8_t)chance();
	r.u8 = (uint8_t)chance();
	r.s16 = (int16_t)chance();
	r.u16 = (uint16_t)chance();
	r.s32 = chance() % 8 ? (int32_t)chance() : -1;
	r.u32 = (uint32_t)chance();
	r.s64 = (int64_t)chance();
	r.u64 = chance();
	/* Bits that have no name print differently: 0x10 of one, nothing of the other. */
	r.flags = chance() % 15 + 1;
	r.yes = chance() & 1;
	for (int i = 0; i < 4; i++)
		r.arr[i] = (uint32_t)chance();
	for (int i = 0; i < 6; i++)
		r.mac[i] = (uint8_t)chance();
	snprintf(r.name, sizeof(r.name), "n%u", (unsigned int)chance());
	snprintf(r.rest, 10, "t%u", (unsigned int)chance() % 100000);
	return r;
}

static void compare(const char *fmt)
{
	struct decode_format *f = sample_format(fmt);
	struct tep_handle *tep = lib.alloc();
	struct buf text = BUF_INIT, out = BUF_INIT;

	check(f->prog);
	sample_text(&text, fmt);
	check(!lib.parse(tep, text.data, text.len, "test"));
	for (int i = 0, before = failures; i < 200 && failures < before + 2; i++) {
		struct sample r = any_record();
		struct tep_record rec = {.data = &r, .size = sizeof(r), .record_size = sizeof(r)};
		struct trace_seq s;

		lib.seq_init(&s);
		lib.print(tep, &s, &rec, "%s", TEP_PRINT_INFO);
		lib.seq_terminate(&s);
		buf_reset(&out);
		decode_print(f, &r, sizeof(r), NULL, &out);
		check_text(__FILE__, __LINE__, fmt, out.data, s.buffer);
		lib.seq_destroy(&s);
	}
	buf_fini(&text);
	buf_fini(&out);
	lib.free(tep);
	decode_format_free(f);
}

int main(void)
{
	if (!load()) {
		printf("skip: no libtraceevent: %s\n", dlerror());
		return 77;
	}
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		compare(formats[i]);
	return failures ? 1 : 0;
}

#else

int main(void)
{
	printf("skip: built without libtraceevent's headers\n");
	return 77;
}

#endif
