/*
 * What in_cpp.cc tries of a firmware in C++, with a writer in its place that only counts.
 */
#define RINGSIDE_FW_PORT "tests/remote/in_cpp_port.h"
#include "fw/remote_events.h"

REMOTE_EVENT(paint, 3, RE_STRUCT(re_field(u32, color) re_field(s64, area)), RE_PRINTK("color=%u area=%lld", __entry->color, __entry->area));

struct ringside_fw ringside_fw;
static unsigned int written;

void ringside_fw_write(const void *, uint32_t words)
{
	written += words == sizeof(struct remote_event_format_paint) / 4;
}

unsigned int bare_writes(void);
unsigned int bare_writes(void)
{
	trace_paint(1, -2);
	ringside_fw.control.enable[0] = 1u << 3;
	trace_paint(1, -2);
	return written;
}
