/*
 * What the example firmware tells. Each source of events counts its own, so that one who reads sees whether any is missing: `loop`, `sleep` and
 * `turns` of a core by theirs, interrupts by their number.
 */
REMOTE_EVENT(boot, 0,
	RE_STRUCT(),
	RE_PRINTK("started")
);

/* A turn of the main loop. */
REMOTE_EVENT(loop, 1,
	RE_STRUCT(
		re_field(u32, seq)
		re_field(u32, state)
	),
	RE_PRINTK("seq=%u state=%#x", __entry->seq, __entry->state)
);

/* An interrupt begins and ends. One of a higher priority comes between. */
REMOTE_EVENT(irq_entry, 2,
	RE_STRUCT(
		re_field(u16, irq)
		re_field(u32, seq)
	),
	RE_PRINTK("irq=%u seq=%u", __entry->irq, __entry->seq)
);

REMOTE_EVENT(irq_exit, 3,
	RE_STRUCT(
		re_field(u16, irq)
		re_field(u32, seq)
	),
	RE_PRINTK("irq=%u seq=%u", __entry->irq, __entry->seq)
);

/* The host has written another value into the mailbox. */
REMOTE_EVENT(doorbell, 4,
	RE_STRUCT(
		re_field(u32, seq)
		re_field(u32, value)
	),
	RE_PRINTK("seq=%u value=%u", __entry->seq, __entry->value)
);

/* How many turns of the loop took below 1, 2, 4, ... ticks of the clock since the last one of these: a long record. */
REMOTE_EVENT(turns, 5,
	RE_STRUCT(
		re_field(u32, seq)
		re_field(s64, t0) re_field(s64, t1) re_field(s64, t2) re_field(s64, t3)
		re_field(s64, t4) re_field(s64, t5) re_field(s64, t6) re_field(s64, t7)
		re_field(s64, t8) re_field(s64, t9) re_field(s64, t10) re_field(s64, t11)
		re_field(s64, t12) re_field(s64, t13) re_field(s64, t14) re_field(s64, t15)
	),
	RE_PRINTK("seq=%u %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld %lld", __entry->seq,
		  __entry->t0, __entry->t1, __entry->t2, __entry->t3, __entry->t4, __entry->t5, __entry->t6, __entry->t7,
		  __entry->t8, __entry->t9, __entry->t10, __entry->t11, __entry->t12, __entry->t13, __entry->t14, __entry->t15)
);

/* A hypervisor lets its guest run until it calls, 0, or an interrupt comes, 1. */
REMOTE_EVENT(guest_entry, 6,
	RE_STRUCT(
		re_field(u32, seq)
	),
	RE_PRINTK("seq=%u", __entry->seq)
);

REMOTE_EVENT(guest_exit, 7,
	RE_STRUCT(
		re_field(u32, seq)
		re_field(u8, reason)
		re_field(u64, argument)
	),
	RE_PRINTK("seq=%u reason=%u argument=%llu", __entry->seq, __entry->reason, __entry->argument)
);
