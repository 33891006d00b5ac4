/*
 * Any bytes as a print format and as a record, of events of all names that plugins print: in the
 * kernel's dialect, in libtraceevent's, as fields, and by plugins. Input:
 *
 *   format NUL printf-format NUL record
 *
 * An input is tried as the event that its last byte chooses.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/plugin.h"
#include "decode/print.h"
#include "layout/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The fields that plugins ask for, in whatever place there is. */
static const char *const fields[] = {
	"unsigned long ip", "unsigned long parent_ip", "u16 count", "u16 top_delta_ts",
	"u32 bottom_delta_ts", "unsigned long caller[]", "unsigned int id", "char buf[]",
	"unsigned long func", "int depth", "u64 calltime", "u64 rettime", "char prev_comm[16]",
	"int prev_pid", "int prev_prio", "long prev_state", "char next_comm[16]", "int next_pid",
	"int next_prio", "int pid", "__data_loc char[] comm", "int prio", "int success",
	"int target_cpu", "unsigned long call_site", "long pages", "int reason", "void * hrtimer",
	"void * function", "s64 now", "s64 expires", "s64 softexpires", "unsigned int exit_reason",
	"unsigned long guest_rip", "u32 isa", "u64 info1", "u64 info2", "u64 rip", "u32 vcpu_id",
	"u32 csbase", "u8 len", "u8 insn[15]", "u8 failed", "u32 role", "u32 root_count",
	"bool unsync", "bool created", "u64 gfn", "u32 * uaddr", "int op", "u32 val",
	"void * utime", "u32 * uaddr2", "u32 val3", "char wiphy_name[32]",
	"__data_loc char[] vif_name", "u32 vif_type", "u32 fmt", "__rel_loc unsigned long[] mask",
	"double d", "__data_loc u8[] cmnd",
};

static const char *const events[][2] = {
	{ "ftrace", "function" }, { "ftrace", "func_repeats" }, { "ftrace", "kernel_stack" },
	{ "ftrace", "raw_data" }, { "ftrace", "bprint" }, { "ftrace", "print" },
	{ "ftrace", "funcgraph_entry" }, { "ftrace", "funcgraph_exit" },
	{ "sched", "sched_switch" }, { "sched", "sched_wakeup" }, { "kmem", "kmalloc" },
	{ "tlb", "tlb_flush" }, { "timer", "hrtimer_start" }, { "timer", "hrtimer_expire_entry" },
	{ "kvm", "kvm_exit" }, { "kvm", "kvm_entry" }, { "kvm", "kvm_emulate_insn" },
	{ "kvm", "kvm_nested_vmexit" }, { "kvmmmu", "kvm_mmu_get_page" },
	{ "syscalls", "sys_enter_futex" }, { "mac80211", "drv_bss_info_changed" },
	{ "shop", "order" },
};

static unsigned int bytes_of(const char *field)
{
	if (strstr(field, "[]"))
		return field[0] == '_' ? 4 : 0;
	if (strchr(field, '['))
		return (unsigned int)atoi(strchr(field, '[') + 1);
	if (strstr(field, "64 ") || strstr(field, "long ") || strchr(field, '*'))
		return 8;
	if (strstr(field, "16 "))
		return 2;
	return strstr(field, "u8 ") || strstr(field, "bool") ? 1 : 4;
}

static void event_text(struct buf *out, const char *name, const uint8_t *fmt, size_t len)
{
	buf_printf(out, "name: %s\nID: 1\nformat:\n" RECORD_HEAD_FORMAT, name);
	/* Fields may overlap: a record has some bytes for each of them. */
	for (unsigned int i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const char *f = fields[i];

		buf_printf(out, "\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", f,
			   8 + i % 16 * 4, bytes_of(f), f[0] != 'u');
	}
	buf_puts(out, "\nprint fmt: ");
	buf_add(out, fmt, len);
}

static bool symbol(void *arg, int pid, uint64_t addr, struct decode_symbol *out)
{
	(void)arg, (void)pid;
	*out = (struct decode_symbol){ .name = addr & 2 ? "function" : "other",
				       .offset = addr & 15 };
	return addr & 1;
}

static bool printk(void *arg, uint64_t addr, struct decode_printk *out)
{
	out->text = arg;
	return addr & 1;
}

static const struct decode_moment *again;

static bool next(void *arg, struct decode_moment *out)
{
	(void)arg;
	*out = *again;
	return true;
}

static void take(void *arg)
{
	(void)arg;
}

static void learn(void *arg, int pid, const char *comm, size_t len)
{
	volatile char sum = 0;

	(void)arg, (void)pid;
	for (size_t i = 0; i < len; i++)
		sum = (char)(sum + comm[i]);
}

static void print(const struct decode_plugins *plugins, const struct decode_format *format,
		  const uint8_t *rec, size_t len, const char *printf_text)
{
	const struct decode_plugin *plugin = decode_plugins_find(plugins, format);
	struct decode_ctx ctx = { .arg = (void *)printf_text, .symbol = symbol, .printk = printk };
	struct decode_moment m = { .format = format, .rec = rec, .len = len, .ctx = &ctx,
				   .carry = decode_carry_new(), .next = next, .take = take,
				   .learn = learn };
	struct buf out = BUF_INIT;

	again = &m;
	for (int i = 0; i < 4; i++) {
		ctx.flags = (i & 1 ? DECODE_ESCAPE : 0) | (i & 2 ? DECODE_TEP : 0);
		buf_reset(&out);
		decode_print(format, rec, len, &ctx, &out);
		if (out.len > DECODE_TEXT_MAX + 32)
			abort();
		decode_print_fields(format, rec, len, &ctx, &out);
		if (plugin)
			decode_plugin_print(plugin, &m, &out);
	}
	if (plugin)
		decode_plugin_pass(plugin, &m);
	decode_carry_free(m.carry);
	buf_fini(&out);
}

static void one(const struct decode_plugins *plugins, const char *const *event,
		const uint8_t *fmt, size_t fmt_len, const uint8_t *rec, size_t len,
		const char *printf_text)
{
	struct decode_format *format;
	struct err err = ERR_INIT;
	struct buf text = BUF_INIT;

	event_text(&text, event[1], fmt, fmt_len);
	for (int big = 0; big < 2; big++) {
		struct decode_abi abi = { .big_endian = big, .long_size = big ? 4 : 8 };

		if (decode_format_parse(event[0], text.data, text.len, &abi, &format, &err))
			continue;
		print(plugins, format, rec, len, printf_text);
		decode_format_free(format);
	}
	buf_fini(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *nul = memchr(data, 0, size), *second;
	size_t fmt_len = nul ? (size_t)(nul - data) : size, len = 0;
	const char *printf_text = "";
	struct decode_plugins *plugins;
	uint8_t *rec;
	size_t which;

	second = nul ? memchr(nul + 1, 0, size - fmt_len - 1) : NULL;
	if (second) {
		printf_text = (const char *)nul + 1;
		len = size - (size_t)(second + 1 - data);
	}
	/* A block of its very size, so that every byte too far is seen. */
	rec = malloc(len ? len : 1);
	if (!rec || decode_plugins_new(&plugins, 0)) {
		free(rec);
		return 0;
	}
	if (len)
		memcpy(rec, second + 1, len);
	which = size ? data[size - 1] % (sizeof(events) / sizeof(events[0])) : 0;
	one(plugins, events[which], data, fmt_len, rec, len, printf_text);
	decode_plugins_free(plugins);
	free(rec);
	return 0;
}
