/*
 * Events for statements to be about: formats as a kernel has them, cut to what matters.
 */
#ifndef QUERY_FORMATS_H
#define QUERY_FORMATS_H

struct query_format {
	const char *system;
	const char *text;
};

#define FORMAT(name, id, fields) \
	"name: " name "\nID: " id "\nformat:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" fields "\nprint fmt: \"%d\", REC->common_pid\n"
#define FIELD(what, offset, size, is_signed) "\tfield:" what ";\toffset:" offset ";\tsize:" size ";\tsigned:" is_signed ";\n"

static const struct query_format query_formats[] = {
	{ "sched", FORMAT("sched_switch", "314",
		FIELD("char prev_comm[16]", "8", "16", "0")
		FIELD("pid_t prev_pid", "24", "4", "1")
		FIELD("int prev_prio", "28", "4", "1")
		FIELD("long prev_state", "32", "8", "1")
		FIELD("char next_comm[16]", "40", "16", "0")
		FIELD("pid_t next_pid", "56", "4", "1")
		FIELD("int next_prio", "60", "4", "1")) },
	{ "sched", FORMAT("sched_waking", "317",
		FIELD("char comm[16]", "8", "16", "0")
		FIELD("pid_t pid", "24", "4", "1")
		FIELD("int prio", "28", "4", "1")
		FIELD("int target_cpu", "32", "4", "1")) },
	{ "raw_syscalls", FORMAT("sys_enter", "348",
		FIELD("long id", "8", "8", "1")
		FIELD("unsigned long args[6]", "16", "48", "0")) },
	{ "raw_syscalls", FORMAT("sys_exit", "347",
		FIELD("long id", "8", "8", "1")
		FIELD("long ret", "16", "8", "1")) },
	{ "syscalls", FORMAT("sys_enter_read", "693",
		FIELD("int __syscall_nr", "8", "4", "1")
		FIELD("unsigned int fd", "16", "8", "0")
		FIELD("char * buf", "24", "8", "0")
		FIELD("size_t count", "32", "8", "0")) },
	{ "syscalls", FORMAT("sys_exit_read", "692",
		FIELD("int __syscall_nr", "8", "4", "1")
		FIELD("long ret", "16", "8", "1")) },
	{ "syscalls", FORMAT("sys_enter_openat", "646",
		FIELD("int __syscall_nr", "8", "4", "1")
		FIELD("int dfd", "16", "8", "0")
		FIELD("const char * filename", "24", "8", "0")
		FIELD("umode_t mode", "32", "8", "0")) },
	{ "syscalls", FORMAT("sys_exit_openat", "645",
		FIELD("int __syscall_nr", "8", "4", "1")
		FIELD("long ret", "16", "8", "1")) },
	{ "kmem", FORMAT("kmalloc", "512",
		FIELD("unsigned long call_site", "8", "8", "0")
		FIELD("const void * ptr", "16", "8", "0")
		FIELD("size_t bytes_req", "24", "8", "0")
		FIELD("size_t bytes_alloc", "32", "8", "0")
		FIELD("unsigned long gfp_flags", "40", "8", "0")
		FIELD("int node", "48", "4", "1")) },
	{ "net", FORMAT("napi_gro_receive_entry", "1497",
		FIELD("__data_loc char[] name", "8", "4", "0")
		FIELD("unsigned int napi_id", "12", "4", "0")
		FIELD("u16 queue_mapping", "16", "2", "0")
		FIELD("const void * skbaddr", "24", "8", "0")
		FIELD("bool vlan_tagged", "32", "1", "0")
		FIELD("u8 ip_summed", "33", "1", "0")
		FIELD("u32 hash", "36", "4", "0")
		FIELD("unsigned int truesize", "40", "4", "0")) },
	{ "net", FORMAT("netif_receive_skb", "1499",
		FIELD("void * skbaddr", "8", "8", "0")
		FIELD("unsigned int len", "16", "4", "0")
		FIELD("__data_loc char[] name", "20", "4", "0")) },
	{ "regmap", FORMAT("regcache_drop_region", "900",
		FIELD("__data_loc char[] name", "8", "4", "0")
		FIELD("unsigned int from", "12", "4", "0")
		FIELD("unsigned int to", "16", "4", "0")) },
	{ "shop", FORMAT("order", "2001",
		FIELD("int id", "8", "4", "1")
		FIELD("u8 kind", "12", "1", "0")
		FIELD("s16 shift", "14", "2", "1")
		FIELD("__data_loc char[] who", "16", "4", "0")
		FIELD("char city[24]", "20", "24", "0")
		FIELD("u64 cents", "48", "8", "0")) },
	{ "shop", FORMAT("pay", "2002",
		FIELD("int id", "8", "4", "1")
		FIELD("unsigned int cents", "12", "4", "0")
		FIELD("__data_loc char[] how", "16", "4", "0")) },
	{ "bakery", FORMAT("order", "2003",
		FIELD("int id", "8", "4", "1")
		FIELD("int loaves", "12", "4", "1")) },
};

#endif
