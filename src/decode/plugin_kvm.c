/*
 * decode/plugin_kvm: what virtual machines do, as trace-cmd's plugin prints it; see handler.h.
 */
#include "decode/handler.h"

static const char *const vmx[] = {
	"EXCEPTION_NMI", "EXTERNAL_INTERRUPT", "TRIPLE_FAULT",
	[7] = "PENDING_INTERRUPT", "NMI_WINDOW", "TASK_SWITCH", "CPUID",
	[12] = "HLT", "INVD", "INVLPG", "RDPMC", "RDTSC",
	[18] = "VMCALL", "VMCLEAR", "VMLAUNCH", "VMPTRLD", "VMPTRST", "VMREAD", "VMRESUME",
	"VMWRITE", "VMOFF", "VMON", "CR_ACCESS", "DR_ACCESS", "IO_INSTRUCTION", "MSR_READ",
	"MSR_WRITE",
	[36] = "MWAIT_INSTRUCTION",
	[39] = "MONITOR_INSTRUCTION", "PAUSE_INSTRUCTION", "MCE_DURING_VMENTRY",
	[43] = "TPR_BELOW_THRESHOLD", "APIC_ACCESS", "EOI_INDUCED",
	[48] = "EPT_VIOLATION", "EPT_MISCONFIG", "INVEPT",
	[52] = "PREEMPTION_TIMER",
	[54] = "WBINVD", "XSETBV", "APIC_WRITE",
	[58] = "INVPCID",
	[62] = "PML_FULL", "XSAVES", "XRSTORS",
};

static const char *const svm[] = {
	"READ_CR0", [3] = "READ_CR3", "READ_CR4", [8] = "READ_CR8",
	[16] = "WRITE_CR0", [19] = "WRITE_CR3", "WRITE_CR4", [24] = "WRITE_CR8",
	[32] = "READ_DR0", "READ_DR1", "READ_DR2", "READ_DR3", "READ_DR4", "READ_DR5", "READ_DR6",
	"READ_DR7",
	[48] = "WRITE_DR0", "WRITE_DR1", "WRITE_DR2", "WRITE_DR3", "WRITE_DR4", "WRITE_DR5",
	"WRITE_DR6", "WRITE_DR7",
	[64] = "EXCP_DE", "EXCP_DB", [67] = "EXCP_BP", "EXCP_OF", "EXCP_BR", "EXCP_UD", "EXCP_NM",
	"EXCP_DF", [74] = "EXCP_TS", "EXCP_NP", "EXCP_SS", "EXCP_GP", "EXCP_PF",
	[80] = "EXCP_MF", "EXCP_AC", "EXCP_MC", "EXCP_XF",
	[96] = "INTR", "NMI", "SMI", "INIT", "VINTR", "CR0_SEL_WRITE", "IDTR_READ", "GDTR_READ",
	"LDTR_READ", "TR_READ", "IDTR_WRITE", "GDTR_WRITE", "LDTR_WRITE", "TR_WRITE", "RDTSC",
	"RDPMC", "PUSHF", "POPF", "CPUID", "RSM", "IRET", "SWINT", "INVD", "PAUSE", "HLT",
	"INVLPG", "INVLPGA", "IOIO", "MSR", "TASK_SWITCH", "FERR_FREEZE", "SHUTDOWN", "VMRUN",
	"VMMCALL", "VMLOAD", "VMSAVE", "STGI", "CLGI", "SKINIT", "RDTSCP", "ICEBP", "WBINVD",
	"MONITOR", "MWAIT", "MWAIT_COND", "XSETBV",
};

static const char *svm_name(uint32_t reason)
{
	switch (reason) {
	case 0x400:
		return "NPF";
	case 0x401:
		return "AVIC_INCOMPLETE_IPI";
	case 0x402:
		return "AVIC_UNACCELERATED_ACCESS";
	case UINT32_MAX:
		return "ERR";
	}
	return reason < sizeof(svm) / sizeof(svm[0]) ? svm[reason] : NULL;
}

static void put_hex(const struct handling *h, const char *name, int field)
{
	sink_puts(h->s, name);
	sink_hex(h->s, handler_num(h, field), 0);
}

/* By the kind of processor: 1 and 2 are Intel's and AMD's, and without one it is Intel's. */
static void put_reason(const struct handling *h, int reason_field, int isa_field)
{
	uint32_t reason = (uint32_t)handler_num(h, reason_field);
	uint64_t isa = handler_has(h, isa_field) ? handler_num(h, isa_field) : 1;
	const char *name = NULL;

	sink_puts(h->s, "reason ");
	if (isa == 1) {
		name = reason < sizeof(vmx) / sizeof(vmx[0]) ? vmx[reason] : NULL;
	} else if (isa == 2) {
		name = svm_name(reason);
		if (name)
			sink_puts(h->s, "EXIT_");
	} else {
		sink_puts(h->s, "UNKNOWN-ISA");
		return;
	}
	if (name) {
		sink_puts(h->s, name);
		return;
	}
	sink_puts(h->s, "UNKNOWN (");
	sink_dec(h->s, reason);
	sink_putc(h->s, ')');
}

static enum handled print_exit(const struct handling *h)
{
	enum { REASON, RIP, ISA, INFO1, INFO2 };

	put_reason(h, REASON, ISA);
	put_hex(h, " rip 0x", RIP);
	if (handler_has(h, INFO1) && handler_has(h, INFO2)) {
		put_hex(h, " info ", INFO1);
		put_hex(h, " ", INFO2);
	}
	return HANDLED;
}

static enum handled print_entry(const struct handling *h)
{
	sink_puts(h->s, " vcpu ");
	sink_dec(h->s, handler_num(h, 0));
	if (!handler_has(h, 1)) {
		sink_puts(h->s, "<CANT FIND FIELD rip>");
		return HANDLED_FIRST;
	}
	put_hex(h, " rip 0x", 1);
	return HANDLED;
}

static enum handled print_inject(const struct handling *h)
{
	enum { CODE, INFO1, INFO2, INT_INFO, INT_INFO_ERR, ISA };

	if (!handler_has(h, CODE))
		return HANDLED_FIRST;
	put_reason(h, CODE, ISA);
	put_hex(h, " info1 ", INFO1);
	put_hex(h, " info2 ", INFO2);
	put_hex(h, " int_info ", INT_INFO);
	put_hex(h, " int_info_err ", INT_INFO_ERR);
	return HANDLED;
}

static enum handled print_nested_exit(const struct handling *h)
{
	if (!handler_has(h, 6)) {
		sink_puts(h->s, "<CANT FIND FIELD rip>");
		return HANDLED_FIRST;
	}
	put_hex(h, " rip ", 6);
	return print_inject(h);
}

static enum handled print_emulate(const struct handling *h)
{
	enum { RIP, CSBASE, LEN, INSN, FAILED };
	uint64_t len = handler_num(h, LEN);
	struct decode_bytes b = tep_bytes(&h->f, h->plugin->fields[INSN]->offset, len);

	put_hex(h, "", CSBASE);
	put_hex(h, ":", RIP);
	sink_puts(h->s, ": ");
	decode_hex_bytes(h->s, b, ' ');
	if (handler_num(h, FAILED))
		sink_puts(h->s, " FAIL");
	return HANDLED;
}

/* A word of bits that says what a shadow page is for. */
static enum handled print_page(const struct handling *h)
{
	enum { ROLE, ROOT_COUNT, UNSYNC };
	uint32_t role = (uint32_t)handler_num(h, ROLE), access = role >> 8 & 7;
	struct sink *s = h->s;

	sink_dec(s, role & 15);
	sink_puts(s, " q");
	sink_dec(s, role >> 5 & 3);
	sink_puts(s, role & 0x80 ? " direct " : " ");
	sink_putc(s, access & 2 ? 'w' : '-');
	sink_putc(s, access & 4 ? 'u' : '-');
	sink_putc(s, access & 1 ? 'x' : '-');
	sink_puts(s, role & 0x800 ? " invalid" : "");
	sink_puts(s, role & 0x10 ? " pae" : " !pae");
	sink_puts(s, role & 0x1000 ? " nxe" : " !nxe");
	sink_puts(s, role & 0x2000 ? " wp" : " !wp");
	sink_puts(s, role & 0x4000 ? " smep" : "");
	sink_puts(s, role & 0x8000 ? " smap" : "");
	sink_puts(s, role >> 24 ? " smm" : "");
	sink_puts(s, " root ");
	sink_dec(s, handler_num(h, ROOT_COUNT));
	sink_puts(s, handler_num(h, UNSYNC) ? " unsync" : " sync");
	return HANDLED;
}

static enum handled print_get_page(const struct handling *h)
{
	sink_puts(h->s, handler_num(h, 3) ? "new " : "existing ");
	put_hex(h, "sp gfn ", 4);
	sink_putc(h->s, ' ');
	return print_page(h);
}

#define NESTED "?exit_code", "?exit_info1", "?exit_info2", "?exit_int_info", \
	       "?exit_int_info_err", "?isa"

const struct handler kvm_handlers[] = {
	{ "kvm", "kvm_exit", { "exit_reason", "guest_rip", "?isa", "?info1", "?info2" },
	  print_exit, NULL },
	{ "kvm", "kvm_entry", { "vcpu_id", "?rip" }, print_entry, NULL },
	{ "kvm", "kvm_emulate_insn", { "rip", "csbase", "len", "insn", "failed" }, print_emulate,
	  NULL },
	{ "kvm", "kvm_nested_vmexit", { NESTED, "?rip" }, print_nested_exit, NULL },
	{ "kvm", "kvm_nested_vmexit_inject", { NESTED }, print_inject, NULL },
	{ "kvmmmu", "kvm_mmu_get_page", { "role", "root_count", "unsync", "created", "gfn" },
	  print_get_page, NULL },
	{ "kvmmmu", "kvm_mmu_sync_page", { "role", "root_count", "unsync" }, print_page, NULL },
	{ "kvmmmu", "kvm_mmu_unsync_page", { "role", "root_count", "unsync" }, print_page, NULL },
	{ "kvmmmu", "kvm_mmu_zap_page", { "role", "root_count", "unsync" }, print_page, NULL },
	{ "kvmmmu", "kvm_mmu_prepare_zap_page", { "role", "root_count", "unsync" }, print_page,
	  NULL },
	{ NULL, NULL, { NULL }, NULL, NULL },
};
