/*
 * What is measured: a record of 16 bytes, one of 4, and one that is off. `measured` is how the firmware tells what came of it.
 */
REMOTE_EVENT(sample, 0,
	RE_STRUCT(
		re_field(u32, a)
		re_field(u32, b)
		re_field(u32, c)
	),
	RE_PRINTK("a=%u b=%u c=%u", __entry->a, __entry->b, __entry->c)
);

REMOTE_EVENT(brief, 1,
	RE_STRUCT(
		re_field(u16, a)
	),
	RE_PRINTK("a=%u", __entry->a)
);

REMOTE_EVENT(silent, 2,
	RE_STRUCT(
		re_field(u32, a)
		re_field(u32, b)
		re_field(u32, c)
	),
	RE_PRINTK("a=%u b=%u c=%u", __entry->a, __entry->b, __entry->c)
);

/* So many times, so many instructions in all. */
REMOTE_EVENT(measured, 3,
	RE_STRUCT(
		re_field(u16, what)
		re_field(u32, times)
		re_field(u32, instructions)
	),
	RE_PRINTK("%s times=%u instructions=%u",
		  __print_symbolic(__entry->what, { 0, "known" }, { 1, "loop" }, { 2, "event_16" }, { 3, "event_4" }, { 4, "event_off" },
				   { 5, "all_off" }, { 6, "tick" }, { 7, "barectf_16" }, { 8, "barectf_4" }),
		  __entry->times, __entry->instructions)
);
