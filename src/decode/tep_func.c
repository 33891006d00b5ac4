/*
 * decode/tep_func: functions that the kernel's print formats call and that libtraceevent knows only
 * with its plugins; see tep.h. One line in the table for each.
 */
#include "decode/tep.h"

#include <string.h>

static void put(struct sink *s, const char *name, uint64_t v)
{
	sink_puts(s, name);
	sink_dec(s, v);
}

static uint64_t same(const struct tep_args *a)
{
	return a->num[0];
}

static uint64_t is_writable_pte(const struct tep_args *a)
{
	return a->num[0] & 2;
}

static uint64_t le16_to_cpup(const struct tep_args *a)
{
	return a->mem[0].len >= 2 ? decode_abi_load(a->mem[0].data, 2, false) : 0;
}

static void dev_to_name(const struct tep_args *a, struct sink *s)
{
	uint32_t dev = (uint32_t)a->num[0];

	sink_dec(s, dev >> 20);
	sink_putc(s, ':');
	sink_dec(s, dev & 0xfffff);
}

static void hypercall_name(const struct tep_args *a, struct sink *s)
{
	static const char *const names[] = {
		"set_trap_table", "mmu_update", "set_gdt", "stack_switch", "set_callbacks",
		"fpu_taskswitch", "sched_op_compat", "dom0_op", "set_debugreg", "get_debugreg",
		"update_descriptor", NULL, "memory_op", "multicall", "update_va_mapping",
		"set_timer_op", "event_channel_op_compat", "xen_version", "console_io",
		"physdev_op_compat", "grant_table_op", "vm_assist",
		"update_va_mapping_otherdomain", "iret", "vcpu_op", "set_segment_base",
		"mmuext_op", "acm_op", "nmi_op", "sched_op", "callback_op", "xenoprof_op",
		"event_channel_op", "physdev_op", "hvm_op",
		[48] = "arch_0", "arch_1", "arch_2", "arch_3", "arch_4", "arch_5", "arch_6",
		"arch_7",
	};
	uint32_t op = (uint32_t)a->num[0];

	if (op >= sizeof(names) / sizeof(names[0]) || !names[op])
		return;
	sink_putc(s, '(');
	sink_puts(s, names[op]);
	sink_putc(s, ')');
}

/*
 * A SCSI command's bytes from `at` on as one number, big-endian; what is not there is 0. The lower
 * four bytes have a sign, which libtraceevent lets run into all that is above them.
 */
static uint64_t big(struct decode_bytes cdb, uint32_t at, uint32_t size)
{
	uint64_t v = 0;

	for (uint32_t i = at; i < at + size; i++)
		v = v << 8 | (i < cdb.len ? cdb.data[i] : 0);
	return size < 4 ? v : v | (uint64_t)(int32_t)v;
}

/* The commands that transfer blocks: where their fields lie, and what they end with. */
static const struct cdb {
	uint8_t op;
	uint16_t service;	/* the action, of commands of variable length */
	uint8_t lba, lba_size, len, len_size;
	uint8_t flags;		/* the byte with `protect` and `unmap`; 0: neither is told */
	bool tag, unmap;
	const char *name;
} cdbs[] = {
	{ 0x28, 0, 2, 4, 7, 2, 1, false, false, "" },
	{ 0x2a, 0, 2, 4, 7, 2, 1, false, false, "" },
	{ 0x2f, 0, 2, 4, 7, 2, 1, false, false, "" },
	{ 0x41, 0, 2, 4, 7, 2, 1, false, true, "" },
	{ 0xa8, 0, 2, 4, 6, 4, 1, false, false, "" },
	{ 0xaa, 0, 2, 4, 6, 4, 1, false, false, "" },
	{ 0xaf, 0, 2, 4, 6, 4, 1, false, false, "" },
	{ 0x88, 0, 2, 8, 10, 4, 1, false, false, "" },
	{ 0x8a, 0, 2, 8, 10, 4, 1, false, false, "" },
	{ 0x8f, 0, 2, 8, 10, 4, 1, false, false, "" },
	{ 0x93, 0, 2, 8, 10, 4, 1, false, true, "" },
	{ 0x7f, 0x09, 12, 8, 28, 4, 10, true, false, "READ_32 " },
	{ 0x7f, 0x0a, 12, 8, 28, 4, 10, true, false, "VERIFY_32 " },
	{ 0x7f, 0x0b, 12, 8, 28, 4, 10, true, false, "WRITE_32 " },
	{ 0x7f, 0x0d, 12, 8, 28, 4, 10, true, true, "WRITE_SAME_32 " },
};

static void transfer(struct decode_bytes b, const struct cdb *c, struct sink *s)
{
	uint64_t flags = big(b, c->flags, 1);

	sink_puts(s, c->name);
	put(s, "lba=", big(b, c->lba, c->lba_size));
	put(s, " txlen=", big(b, c->len, c->len_size));
	put(s, " protect=", flags >> 5);
	if (c->tag)
		put(s, " ei_lbrt=", (uint32_t)big(b, 20, 4));
	if (c->unmap)
		put(s, " unmap=", flags >> 3 & 1);
}

static void service_in(struct decode_bytes b, struct sink *s)
{
	uint64_t action = big(b, 1, 1) & 0x1f;

	if (action != 0x10 && action != 0x12) {
		sink_puts(s, "UNKNOWN");
		return;
	}
	sink_puts(s, action == 0x10 ? "READ_CAPACITY_16 " : "GET_LBA_STATUS ");
	put(s, "lba=", big(b, 2, 8));
	put(s, " alloc_len=", (uint32_t)big(b, 10, 4));
}

static void parse_cdb(const struct tep_args *a, struct sink *s)
{
	struct decode_bytes b = a->mem[1];
	uint64_t op = big(b, 0, 1), action = big(b, 8, 2);

	for (size_t i = 0; i < sizeof(cdbs) / sizeof(cdbs[0]); i++) {
		if (cdbs[i].op == op && (op != 0x7f || cdbs[i].service == action)) {
			transfer(b, &cdbs[i], s);
			return;
		}
	}
	if (op == 0x08 || op == 0x0a) {
		put(s, "lba=", big(b, 1, 3) & 0x1fffff);
		put(s, " txlen=", big(b, 4, 1));
	} else if (op == 0x42) {
		put(s, "regions=", ((uint32_t)big(b, 7, 2) - 8u) / 16);
	} else if (op == 0x9e) {
		service_in(b, s);
	} else {
		sink_putc(s, '-');
	}
}

static const struct tep_func funcs[] = {
	{ "jiffies_to_msecs", 1, same, NULL },
	{ "is_writable_pte", 1, is_writable_pte, NULL },
	{ "__le16_to_cpup", 1, le16_to_cpup, NULL },
	{ "jbd2_dev_to_name", 1, NULL, dev_to_name },
	{ "xen_hypercall_name", 1, NULL, hypercall_name },
	{ "scsi_trace_parse_cdb", 3, NULL, parse_cdb },
};

const struct tep_func *tep_func_find(struct text name)
{
	for (size_t i = 0; i < sizeof(funcs) / sizeof(funcs[0]); i++)
		if (strlen(funcs[i].name) == name.len && !memcmp(funcs[i].name, name.p, name.len))
			return &funcs[i];
	return NULL;
}

/* The bytes that an argument leads to, casts around it or not. */
static struct decode_bytes memory(const struct frame *f, uint32_t at)
{
	const struct tep_node *n = &f->tep->nodes[at];
	struct tep_loc loc;

	while (n->kind == TEP_CAST)
		n = &f->tep->nodes[n->a];
	if (n->kind != TEP_DYNAMIC)
		return (struct decode_bytes){ NULL, 0 };
	loc = tep_locate(f, n->field);
	return tep_bytes(f, loc.offset, loc.len);
}

struct tep_args tep_func_args(const struct frame *f, const struct tep_node *n)
{
	struct tep_args a = { 0 };
	uint32_t at = n->a;

	for (int i = 0; at && i < n->func->nr_args; i++) {
		const struct tep_node *arg = &f->tep->nodes[at];

		a.num[i] = tep_number(f, arg->a);
		a.mem[i] = memory(f, arg->a);
		at = arg->b;
	}
	return a;
}
