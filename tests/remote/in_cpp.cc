/*
 * C++ declares events and writes them as C does, hosted and bare.
 */
#define RINGSIDE_FW_HOSTED
#include "fw/remote_events.h"
#include "tests/insist.h"

#include <cstring>

enum color { RED, GREEN };

REMOTE_EVENT(paint, 3, RE_STRUCT(re_field(enum color, color) re_field(s64, area) re_field(bool, done)),
	RE_PRINTK("color=%d area=%lld done=%d", __entry->color, __entry->area, __entry->done));
REMOTE_EVENT(nothing, 4, RE_STRUCT(), RE_PRINTK("nothing"));

/* In a firmware's own way: in_cpp_bare.cc. */
unsigned int bare_writes(void);

alignas(8) static unsigned char memory[4096];

int main()
{
	struct ringside_fw_hosted_how how = {};
	struct remote_event_format_paint record = {};
	struct ringside_fw_hosted fw;

	how.nr_rings = 1;
	how.nr_pages = 2;
	how.page_shift = 8;
	how.nr_events = 32;
	how.on = 1;
	CHECK(!ringside_fw_hosted_init(memory, sizeof(memory), &how) && !ringside_fw_hosted_open(&fw, memory, sizeof(memory)), "writer");
	trace_paint(&fw, 0, GREEN, -5, true);
	trace_nothing(&fw, 0);
	CHECK(fw.rings[0].count == 2, "%u events", fw.rings[0].count);
	/* Behind the page's header and the word before a short record. */
	std::memcpy(&record, memory + fw.rings[0].pages + 8 + sizeof(long) + 4, sizeof(record));
	CHECK(record.remote_event_id == 3 && record.color == GREEN && record.area == -5 && record.done, "another record");
	CHECK(bare_writes() == 1, "bare");
	return 0;
}
