/*
 * layout/page: the bytes of a sub-buffer, as the kernel's ring buffer lays them out and every reader of trace data
 * expects them. `commit` is 8 bytes wide for every program, 32-bit ones too.
 */
#ifndef LAYOUT_PAGE_H
#define LAYOUT_PAGE_H

#include <assert.h>
#include <stdint.h>

struct page_head {
	uint64_t time_stamp;	/* time of the page's first event */
	uint64_t commit;	/* bytes of data that are whole events; in a reader's copy also the flags below */
};

#define PAGE_HEAD_SIZE 16u
static_assert(sizeof(struct page_head) == PAGE_HEAD_SIZE, "page header");

/* Flags in a copy's commit word: events were lost before this page; their count follows the data. */
#define PAGE_MISSED_EVENTS (1u << 31)
#define PAGE_MISSED_STORED (1u << 30)
#define PAGE_COMMIT_MASK ((1u << 27) - 1)

#define PAGE_SIZE_MIN 4096u
#define PAGE_SIZE_MAX (128u * 4096u)

/* An event's first word: 5 bits of type_len, 27 bits of time since the event before. */
#define EVENT_TYPE_BITS 5
#define EVENT_DELTA_BITS 27
#define EVENT_DELTA_MAX ((1u << EVENT_DELTA_BITS) - 1)
#define EVENT_LEN_MAX_SHORT (28u * 4)	/* longest payload whose length fits into type_len */
enum {
	EVENT_TYPE_LONG = 0,	/* the next word holds the length, itself included */
	EVENT_TYPE_PADDING = 29,
	EVENT_TYPE_TIME_EXTEND = 30,
	EVENT_TYPE_TIME_STAMP = 31,
};
#define EVENT_EXTEND_SIZE 8u

/* What every record begins with. */
struct record_head {
	uint16_t type;
	uint8_t flags;
	uint8_t preempt_count;
	int32_t pid;
};
static_assert(sizeof(struct record_head) == 8, "common fields");

/* The same as the beginning of a `format` text, with the empty line behind it. */
#define RECORD_HEAD_FORMAT \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n" \
	"\n"

/* Records of the tracers `function` and `function_graph`. Addresses are the symbol space's. */
struct record_function {
	struct record_head head;
	uint64_t ip;
	uint64_t parent_ip;
};
struct record_graph_entry {
	struct record_head head;
	uint64_t func;
	int32_t depth;
};
#define RECORD_GRAPH_ENTRY_SIZE 20u
/* The same with what was in the argument registers, as many of them as are known to mean something. */
#define RECORD_ARGS_MAX 6u
struct record_function_args {
	struct record_function function;
	uint64_t args[RECORD_ARGS_MAX];
};
struct record_graph_entry_args {
	struct record_head head;
	uint64_t func;
	uint64_t depth;		/* four bytes of it */
	uint64_t args[RECORD_ARGS_MAX];
};
#define RECORD_ARGS_OFFSET 24u
struct record_graph_exit {
	struct record_head head;
	uint64_t func;
	uint64_t retval;
	int32_t depth;
	uint32_t overrun;	/* calls that were too deep to be hooked */
	uint64_t calltime;	/* nanoseconds */
	uint64_t rettime;
};
static_assert(sizeof(struct record_function) == 24 && sizeof(struct record_graph_exit) == 48, "as their formats say");
static_assert(sizeof(struct record_function_args) == RECORD_ARGS_OFFSET + 8 * RECORD_ARGS_MAX &&
	      sizeof(struct record_graph_entry_args) == sizeof(struct record_function_args), "as their formats say");

/* IDs that ftrace fixes; the ones of declared events come from the directory. */
enum {
	EVENT_ID_FUNCTION = 1,
	EVENT_ID_KERNEL_STACK = 4,
	EVENT_ID_PRINT = 5,
	EVENT_ID_BPRINT = 6,
	EVENT_ID_GRAPH_EXIT = 10,
	EVENT_ID_GRAPH_ENTRY = 11,
	EVENT_ID_RAW_DATA = 18,
	EVENT_ID_BUILTIN_END = 32,
	/* Behind the kernel's, and so that the first 16384 are positive for readers that have them in 16 bits, as KernelShark. */
	EVENT_ID_FIRST = 0x4000,
	EVENT_ID_END = 0x10000,
};

#endif
