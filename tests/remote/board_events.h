/* What board.c traces. `stamp` has the host's time of the very moment that its own time was taken. */
REMOTE_EVENT(selftest, 1, RE_STRUCT(re_field(u64, id)), RE_PRINTK("id=%llu", __entry->id));
REMOTE_EVENT(stamp, 2, RE_STRUCT(re_field(u32, number) re_field(u64, host)), RE_PRINTK("number=%u host=%llu", __entry->number, __entry->host));
REMOTE_EVENT(silent, 3, RE_STRUCT(), RE_PRINTK("nothing"));
