/*
 * A record has what was put into it, and zeros: nothing of what was on the writer's stack before.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RINGSIDE_FW_HOSTED
#include "insist.h"
#include "fw/remote_events.h"

REMOTE_EVENT(wide, 1, RE_STRUCT(re_field(u64, a)), RE_PRINTK("nothing"));
REMOTE_EVENT(gaps, 2, RE_STRUCT(re_field(u8, a) re_field(u64, b) re_field(u16, c) re_field(u64, d) re_field(u8, e) re_field(u32, f) re_field(u8, g)),
	     RE_PRINTK("nothing"));
REMOTE_EVENT(small, 3, RE_STRUCT(re_field(u8, a) re_field(u16, b) re_field(u8, c)), RE_PRINTK("nothing"));
REMOTE_EVENT(none, 4, RE_STRUCT(), RE_PRINTK("nothing"));

static struct ringside_fw_hosted fw;

static __attribute__((noinline)) void soil(void)
{
	char stack[4096];

	memset(stack, 0xaa, sizeof(stack));
	__asm__ volatile("" : : "r"(stack) : "memory");
}

static __attribute__((noinline)) void trace_all(void)
{
	trace_wide(&fw, 0, 0);
	trace_gaps(&fw, 0, 0, 0, 0, 0, 0, 0, 0);
	trace_small(&fw, 0, 0, 0, 0);
	trace_none(&fw, 0);
}

int main(void)
{
	static _Alignas(4096) unsigned char memory[3 * 4096];
	const struct ringside_fw_hosted_how how = { .nr_rings = 1, .nr_pages = 2, .page_shift = 12, .nr_events = 32, .on = 1 };
	unsigned char *page;

	CHECK(ringside_fw_hosted_size(&how) <= sizeof(memory) && !ringside_fw_hosted_init(memory, sizeof(memory), &how) &&
	      !ringside_fw_hosted_open(&fw, memory, sizeof(memory)), "the writer");
	page = memory + fw.rings->pages;
	soil();
	trace_all();
	CHECK(fw.rings->count == 4, "%u events", fw.rings->count);
	for (size_t i = 16; i < 4096; i++)
		CHECK(page[i] != 0xaa, "what was on the stack is at %zu", i);
	return 0;
}
