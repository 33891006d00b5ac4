/* What the board of remote_lab.h tells. IDs may have gaps. */
REMOTE_EVENT(step, 1,
	RE_STRUCT(
		re_field(u32, cpu)
		re_field(u64, seq)
	),
	RE_PRINTK("cpu=%u seq=%llu", __entry->cpu, __entry->seq)
);

REMOTE_EVENT(stall, 40,
	RE_STRUCT(),
	RE_PRINTK("stalled")
);
