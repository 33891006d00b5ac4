/*
 * The kernel's filter language: what it accepts and what it refuses, with its words, its errno and its caret; and what a
 * filter then says of a record.
 *
 * The first tables are what Linux 6.12 answered when each line was written to the event's filter file.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "trigger/spec.h"

static int failures;

#define check(what)                                                                                                            \
	do {                                                                                                                   \
		if (!(what)) {                                                                                                 \
			printf("%s:%d: %s\n", __FILE__, __LINE__, #what);                                                      \
			failures++;                                                                                            \
		}                                                                                                              \
	} while (0)

#define COMMON                                                                                                                 \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                                                 \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                                                 \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"                                         \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char sched_switch[] =
	"name: sched_switch\nID: 300\nformat:\n" COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"\"\n";

/* Pointers to texts, addresses and masks, put together out of sys_enter_openat and ipi_send_cpumask. */
static const char pointers[] =
	"name: pointers\nID: 302\nformat:\n" COMMON
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:const char * filename;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:int flags;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:umode_t mode;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t cpumask;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:void * callsite;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:void * callback;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static const char process_exec[] =
	"name: sched_process_exec\nID: 303\nformat:\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n"
	"\nprint fmt: \"\"\n";

static const char sample[] =
	"name: sample\nID: 301\nformat:\n" COMMON
	"\tfield:char name[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:u8 byte;\toffset:24;\tsize:1;\tsigned:0;\n"
	"\tfield:s8 small;\toffset:25;\tsize:1;\tsigned:1;\n"
	"\tfield:u16 half;\toffset:26;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned int count;\toffset:28;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long ip;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:double ratio;\toffset:40;\tsize:8;\tsigned:1;\n"
	"\tfield:float part;\toffset:48;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] path;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:const char * pointed;\toffset:56;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc cpumask_t cpus;\toffset:64;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 three[3];\toffset:68;\tsize:12;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

struct record {
	uint16_t type;
	uint8_t flags, preempt;
	int32_t pid;
	char name[16];
	uint8_t byte;
	int8_t small;
	uint16_t half;
	uint32_t count;
	uint64_t ip;
	double ratio;
	float part;
	uint32_t path;
	uint64_t pointed;
	uint32_t cpus;
	uint32_t three[3];
	char tail[24];
} __attribute__((packed));

static struct decode_format *parse(const char *text)
{
	struct decode_format *format = NULL;
	struct err err = ERR_INIT;

	if (decode_format_parse("sys", text, strlen(text), NULL, &format, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	return format;
}

static bool function(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	(void)arg;
	*start = 0x1000;
	*end = 0x1100;
	return !strcmp(name, "vfs_read") || !strcmp(name, "0x1004");
}

static const struct spec_world world = { .function = function };

struct outcome {
	const char *text;
	int error;
	const char *message;
	uint32_t pos;
};

static const struct outcome kernel[] = {
	{ "prev_pid == 0", 0, NULL, 0 },
	{ "prev_pid == 0 && next_pid == 1", 0, NULL, 0 },
	{ "prev_pid == 0 || next_pid == 1 && prev_prio > 3", 0, NULL, 0 },
	{ "(prev_pid == 0 || next_pid == 1) && prev_prio > 3", 0, NULL, 0 },
	{ "!(prev_pid == 0)", 0, NULL, 0 },
	{ "!prev_pid == 0", 0, NULL, 0 },
	{ "!!prev_pid == 0", 0, NULL, 0 },
	{ "! ( ! prev_pid == 0 )", 0, NULL, 0 },
	{ "((prev_pid==0))", 0, NULL, 0 },
	{ "prev_pid==0&&next_pid==1", 0, NULL, 0 },
	{ "prev_pid & 4", 0, NULL, 0 },
	{ "prev_pid ~ 4", EINVAL, "Illegal operation for field type", 12 },
	{ "prev_pid ~ \"4\"", EINVAL, "Expecting numeric field", 12 },
	{ "prev_pid == \"4\"", EINVAL, "Expecting numeric field", 13 },
	{ "prev_pid < \"4\"", EINVAL, "Illegal operation for field type", 12 },
	{ "prev_comm == \"sh\"", 0, NULL, 0 },
	{ "prev_comm == 'sh'", 0, NULL, 0 },
	{ "prev_comm != \"sh\"", 0, NULL, 0 },
	{ "prev_comm < \"sh\"", EINVAL, "Illegal operation for field type", 13 },
	{ "prev_comm & \"sh\"", EINVAL, "Illegal operation for field type", 13 },
	{ "prev_comm ~ \"sh*\"", 0, NULL, 0 },
	{ "prev_comm ~ \"*sh*\"", 0, NULL, 0 },
	{ "prev_comm ~ \"!sh*\"", 0, NULL, 0 },
	{ "prev_comm == 5", EINVAL, "Expecting string field", 14 },
	{ "prev_comm == sh", EINVAL, "Invalid value (did you forget quotes)?", 14 },
	{ "prev_comm == \"sh", ESRCH, "Missing matching quote", 13 },
	{ "prev_comm == 'sh\"", ESRCH, "Missing matching quote", 13 },
	{ "prev_comm == \"\"", 0, NULL, 0 },
	{ "prev_pid == -1", 0, NULL, 0 },
	{ "prev_pid == 0x10", 0, NULL, 0 },
	{ "prev_pid == 010", 0, NULL, 0 },
	{ "prev_pid == 08", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == 0xg", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == 1a", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == 99999999999999999999", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == 9223372036854775808", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == -9223372036854775809", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == 123456789012345678901234", EINVAL, "Operand too long", 37 },
	{ "prev_pid == 0x0000000000000000000001", EINVAL, "Operand too long", 37 },
	{ "prev_state == -1", 0, NULL, 0 },
	{ "prev_pid == --1", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == -", EINVAL, "Illegal integer value", 13 },
	{ "prev_pid == +1", EINVAL, "Invalid value (did you forget quotes)?", 13 },
	{ "prev_pid == 1 .5", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid = 0", EINVAL, "Invalid operator", 10 },
	{ "prev_pid", EINVAL, "Invalid operator", 9 },
	{ "prev_pid ==", EINVAL, "Invalid value (did you forget quotes)?", 12 },
	{ "prev_pid == ", EINVAL, "Invalid value (did you forget quotes)?", 12 },
	{ "prev_pid &&", EINVAL, "Invalid value (did you forget quotes)?", 11 },
	{ "prev_pid == 1 &&", EINVAL, "Meaningless filter expression", 16 },
	{ "prev_pid == 1 ||", EINVAL, "Meaningless filter expression", 16 },
	{ "prev_pid == 1 && ||", EPERM, "Error", 0 },
	{ "&& prev_pid == 1", EPERM, "Error", 0 },
	{ "|| prev_pid == 1", EPERM, "Error", 0 },
	{ "prev_pid == 1 & next_pid == 1", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid == 1 | next_pid == 1", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid == 1 next_pid == 1", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid == 1 && next_pid", EINVAL, "Invalid operator", 26 },
	{ "nosuch == 1", EINVAL, "Field not found", 7 },
	{ "nosuch", EINVAL, "Field not found", 7 },
	{ " nosuch == 1", EINVAL, "Field not found", 8 },
	{ "prev_pid == 0 && nosuch == 1", EINVAL, "Field not found", 24 },
	{ "prev_pid == 0 && ( nosuch==1)", EINVAL, "Field not found", 26 },
	{ "(prev_pid == 0", ENOENT, "Too many '('", 0 },
	{ "prev_pid == 0)", EPERM, "Too few '('", 13 },
	{ "((prev_pid == 0)", ENOENT, "Too many '('", 0 },
	{ "(prev_pid == 0))", EPERM, "Too few '('", 15 },
	{ "()", EINVAL, "Error", 0 },
	{ "(", ENOENT, "Too many '('", 0 },
	{ ")", EPERM, "Too few '('", 0 },
	{ "!", EINVAL, "No filter found", 1 },
	{ "!!", EINVAL, "No filter found", 2 },
	{ "prev_pid == 0 !", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid == (0)", EINVAL, "Invalid value (did you forget quotes)?", 13 },
	{ "prev_pid == 0 && ()", EPERM, "Error", 0 },
	{ "\"prev_pid\" == 0", EPERM, "Error", 0 },
	{ "== 0", EPERM, "Error", 0 },
	{ "0 == prev_pid", EINVAL, "Field not found", 2 },
	{ "1", EINVAL, "Field not found", 2 },
	{ "5 5", EINVAL, "Field not found", 2 },
	{ "prev_pid <> 0", EINVAL, "Invalid value (did you forget quotes)?", 11 },
	{ "prev_pid <= 0", 0, NULL, 0 },
	{ "prev_pid >= 0", 0, NULL, 0 },
	{ "prev_pid => 0", EINVAL, "Invalid operator", 10 },
	{ "prev_pid !== 0", EINVAL, "Invalid value (did you forget quotes)?", 12 },
	{ "prev_pid != 0", 0, NULL, 0 },
	{ "prev_pid !~ 0", EINVAL, "Invalid operator", 10 },
	{ "prev_comm !~ \"x\"", EINVAL, "Invalid operator", 11 },
	{ "prev_pid === 0", EINVAL, "Invalid value (did you forget quotes)?", 12 },
	{ "CPU == 0", 0, NULL, 0 },
	{ "cpu == 0", 0, NULL, 0 },
	{ "common_cpu == 0", 0, NULL, 0 },
	{ "CPU & 1", 0, NULL, 0 },
	{ "CPU ~ 1", EINVAL, "Illegal operation for field type", 7 },
	{ "CPU == \"0\"", EINVAL, "Expecting numeric field", 8 },
	{ "cpu == CPUS{0}", 0, NULL, 0 },
	{ "CPU & CPUS{0-1}", 0, NULL, 0 },
	{ "CPU != CPUS{1}", 0, NULL, 0 },
	{ "CPU < CPUS{1}", EINVAL, "Illegal operation for field type", 7 },
	{ "prev_comm == CPUS{0}", EINVAL, "Illegal operation for field type", 14 },
	{ "CPU == CPUS", EINVAL, "Missing '{'", 13 },
	{ "CPU == CPUS 0", EINVAL, "Missing '{'", 13 },
	{ "CPU == CPUS{}", EINVAL, "Invalid cpulist", 13 },
	{ "CPU == CPUS{", EINVAL, "Missing '}'", 13 },
	{ "CPU == CPUS{0", EINVAL, "Missing '}'", 14 },
	{ "CPU == CPUS{x}", EINVAL, "Invalid cpulist", 14 },
	{ "CPU == CPUS{0-}", EINVAL, "Invalid cpulist", 15 },
	{ "CPU == CPUS{3-1}", EINVAL, "Invalid cpulist", 16 },
	{ "CPU == CPUS{0-99999}", EINVAL, "Invalid cpulist", 20 },
	{ "CPU == CPUS{ 0 }", 0, NULL, 0 },
	{ "CPU == CPUS{0,}", 0, NULL, 0 },
	{ "CPU == CPUS{,0}", 0, NULL, 0 },
	{ "CPU == CPUS{0 1}", 0, NULL, 0 },
	{ "CPU == CPUS{all}", 0, NULL, 0 },
	{ "CPU == CPUS{N}", 0, NULL, 0 },
	{ "CPU == CPUS{0-N}", 0, NULL, 0 },
	{ "CPU == CPUS{0}x", EPERM, "Too many terms in predicate expression", 14 },
	{ "COMM == \"sh\"", 0, NULL, 0 },
	{ "comm == \"sh\"", 0, NULL, 0 },
	{ "COMM == 1", EINVAL, "Expecting string field", 9 },
	{ "comm ~ \"s*\"", 0, NULL, 0 },
	{ "common_comm == \"sh\"", EINVAL, "Field not found", 12 },
	{ "common_pid == 1", 0, NULL, 0 },
	{ "common_type == 1", 0, NULL, 0 },
	{ "common_flags & 1", 0, NULL, 0 },
	{ "common_preempt_count > 0", 0, NULL, 0 },
	{ "common_pid ~ \"1\"", EINVAL, "Expecting numeric field", 14 },
	{ "stacktrace == 1", 0, NULL, 0 },
	{ "stacktrace == \"x\"", EINVAL, "Expecting numeric field", 15 },
	{ "STACKTRACE == 1", 0, NULL, 0 },
	{ "common_stacktrace == 1", EINVAL, "Field not found", 18 },
	{ "common_timestamp == 1", EINVAL, "Field not found", 17 },
	{ "stacktrace & 1", 0, NULL, 0 },
	{ "stacktrace == CPUS{0}", EINVAL, "Illegal operation for field type", 15 },
	{ "prev_state.function == vfs_read", 0, NULL, 0 },
	{ "prev_state.function == nosuchfunction", EINVAL, "Function not found", 38 },
	{ "prev_state.function == vfs_read && prev_pid == 1", 0, NULL, 0 },
	{ "prev_state.function == vfs_read)", EPERM, "Too few '('", 31 },
	{ "prev_state.function < vfs_read", EINVAL, "Invalid operator", 23 },
	{ "prev_state.function == 0xffffffff81000000", EINVAL, "Function not found", 42 },
	{ "prev_state.function == 5", EINVAL, "Function not found", 25 },
	{ "prev_state.function == 0xzz", EINVAL, "Invalid value (did you forget quotes)?", 28 },
	{ "prev_state.function == \"vfs_read\"", EINVAL, "Function not found", 34 },
	{ "prev_state.function == 'vfs_read'", EINVAL, "Function not found", 34 },
	{ "prev_state.function ~ vfs_read", EINVAL, "Invalid operator", 23 },
	{ "prev_state.function ==", EINVAL, "Function not found", 23 },
	{ "prev_state.function == 123456789012345678901234", EINVAL, "Operand too long", 48 },
	{ "prev_pid.function == vfs_read", EINVAL, "Illegal operation for field type", 22 },
	{ "prev_comm.function == vfs_read", EINVAL, "Illegal operation for field type", 23 },
	{ "prev_comm.ustring == \"sh\"", 0, NULL, 0 },
	{ "prev_comm.ustring == 5", EINVAL, "Expecting string field", 22 },
	{ "prev_comm.ustring.function == vfs_read", EINVAL, "Illegal operation for field type", 31 },
	{ "prev_pid.ustring == 5", 0, NULL, 0 },
	{ "prev_pid.ustring == \"5\"", EINVAL, "Expecting numeric field", 21 },
	{ "prev_state.function.ustring == \"5\"", EINVAL, "Invalid operator", 20 },
	{ "prev_pid.foo == 5", EINVAL, "Invalid operator", 9 },
	{ "prev_pid. == 5", EINVAL, "Invalid operator", 9 },
	{ "prev_pid.functionx == 5", EINVAL, "Invalid operator", 18 },
	{ "prev_comm ~ \"a'b\"", 0, NULL, 0 },
	{ "prev_comm == \"a\" \"b\"", EPERM, "Too many terms in predicate expression", 17 },
	{ "prev_comm == \"a\"b", EPERM, "Too many terms in predicate expression", 16 },
	{ "prev_comm == \"a\"&& prev_pid == 1", 0, NULL, 0 },
	{ "prev_pid==1&&prev_comm==\"x\"||next_pid==2", 0, NULL, 0 },
	{ "prev_pid == 1 && (next_pid == 2 || next_pid == 3) && !(prev_prio < 5)", 0, NULL, 0 },
	{ "!(prev_pid == 1 && next_pid == 2) || prev_prio == 3", 0, NULL, 0 },
	{ "prev_pid == 1 && !next_pid == 2", 0, NULL, 0 },
	{ "prev_pid == 1 ! && next_pid == 2", EPERM, "Too many terms in predicate expression", 14 },
	{ "(prev_pid == 1) (next_pid == 2)", EPERM, "Too many terms in predicate expression", 16 },
	{ "(prev_pid == 1) next_pid == 2", EPERM, "Too many terms in predicate expression", 16 },
	{ "prev_pid == 1 (next_pid == 2)", EPERM, "Too many terms in predicate expression", 14 },
	{ "prev_pid == 1 && && next_pid == 2", EPERM, "Error", 0 },
	{ "prev_pid == 1 &&& next_pid == 2", EPERM, "Error", 0 },
	{ "prev_pid == 1 ||| next_pid == 2", EPERM, "Error", 0 },
	{ "'prev_pid' == 1", EPERM, "Error", 0 },
	{ "prev_pid == '1'", EINVAL, "Expecting numeric field", 13 },
	{ "prev_pid == 1;", EPERM, "Too many terms in predicate expression", 13 },
	{ ";", EPERM, "Error", 0 },
	{ "@", EPERM, "Error", 0 },
	{ "prev_pid == 1 && ! ", EINVAL, "Meaningless filter expression", 18 },
	{ "prev_pid == 1 && (", ENOENT, "Too many '('", 17 },
	{ "prev_pid == 1 && )", EPERM, "Too few '('", 17 },
	{ "!(", ENOENT, "Too many '('", 1 },
	{ "! && prev_pid == 1", EPERM, "Error", 0 },
	{ "( && prev_pid == 1)", EPERM, "Error", 0 },
	{ "(prev_pid == 1 &&)", EPERM, "Error", 0 },
	{ "(prev_pid == 1 ||) && next_pid == 1", EPERM, "Error", 0 },
	{ "prev_comm == \"(\" && prev_pid == 1", 0, NULL, 0 },
	{ "prev_comm == \")\" && prev_pid == 1", 0, NULL, 0 },
	{ "prev_comm == \"&&\"", 0, NULL, 0 },
	{ "prev_comm != 'x' || prev_comm ~ '[a-z]*'", 0, NULL, 0 },
	{ "prev_pid\t==\t1", 0, NULL, 0 },
};

static const struct outcome kernel_pointers[] = {
	{ "filename == \"x\"", 0, NULL, 0 },
	{ "filename.ustring == \"x\"", 0, NULL, 0 },
	{ "filename.ustring ~ \"x*\"", 0, NULL, 0 },
	{ "filename == 5", EINVAL, "Expecting string field", 13 },
	{ "filename.ustring == 5", EINVAL, "Expecting string field", 21 },
	{ "filename < \"x\"", EINVAL, "Illegal operation for field type", 12 },
	{ "filename.function == vfs_read", 0, NULL, 0 },
	{ "filename == CPUS{0}", EINVAL, "Illegal operation for field type", 13 },
	{ "filename & 1", EINVAL, "Expecting string field", 12 },
	{ "flags == -1", EINVAL, "Illegal integer value", 10 },
	{ "flags == 1", 0, NULL, 0 },
	{ "flags.ustring == \"x\"", EINVAL, "Expecting numeric field", 18 },
	{ "common_type == -1", EINVAL, "Illegal integer value", 16 },
	{ "common_preempt_count == -1", EINVAL, "Illegal integer value", 25 },
	{ "filename.function == 0", EINVAL, "Function not found", 23 },
	{ "mode.function == vfs_read", 0, NULL, 0 },
	{ "__syscall_nr == 1", 0, NULL, 0 },
	{ "CPU == -1", 0, NULL, 0 },
	{ "stacktrace == -1", EINVAL, "Illegal integer value", 15 },
	{ "CPU == 0x", EINVAL, "Illegal integer value", 8 },
	{ "cpumask == CPUS{0}", 0, NULL, 0 },
	{ "cpumask & CPUS{0-1}", 0, NULL, 0 },
	{ "cpumask != CPUS{1}", 0, NULL, 0 },
	{ "cpumask < CPUS{0}", EINVAL, "Illegal operation for field type", 11 },
	{ "cpumask == 1", 0, NULL, 0 },
	{ "cpumask & 1", 0, NULL, 0 },
	{ "cpumask == \"0\"", EINVAL, "Expecting numeric field", 12 },
	{ "cpumask ~ \"0\"", EINVAL, "Expecting numeric field", 11 },
	{ "cpumask == CPUS{1-0}", EINVAL, "Invalid cpulist", 20 },
	{ "callsite.function == vfs_read", 0, NULL, 0 },
	{ "callsite == 5", 0, NULL, 0 },
	{ "callsite == CPUS{0}", 0, NULL, 0 },
	{ "callback == -1", EINVAL, "Illegal integer value", 13 },
};

static const struct outcome kernel_exec[] = {
	{ "filename == \"x\"", 0, NULL, 0 },
	{ "filename ~ \"*x*\"", 0, NULL, 0 },
	{ "filename == 1", EINVAL, "Expecting string field", 13 },
	{ "filename.ustring == \"x\"", 0, NULL, 0 },
	{ "filename.function == vfs_read", EINVAL, "Illegal operation for field type", 22 },
	{ "filename == CPUS{0}", EINVAL, "Illegal operation for field type", 13 },
	{ "comm == \"x\"", 0, NULL, 0 },
};

/* Where we go on and the kernel does not, or where it knows fewer CPUs. */
static const struct outcome beyond[] = {
	{ "prev_pid == 1.5", 0, NULL, 0 },
	{ "prev_pid & 1.5", EINVAL, "Illegal operation for field type", 12 },
	{ "prev_pid == next_pid", 0, NULL, 0 },
	{ "prev_pid == next_pid && prev_comm != next_comm", 0, NULL, 0 },
	{ "prev_comm == COMM", 0, NULL, 0 },
	{ "prev_pid == nosuch", EINVAL, "Invalid value (did you forget quotes)?", 13 },
	{ "prev_pid == next_comm", EINVAL, "Expecting numeric field", 13 },
	{ "prev_comm == next_pid", EINVAL, "Expecting string field", 14 },
	{ "prev_comm < next_comm", EINVAL, "Illegal operation for field type", 13 },
	{ "prev_pid & CPUS{0-3,7}", 0, NULL, 0 },
	{ "CPU == CPUS{0-3:1/2}", 0, NULL, 0 },
	{ "", EINVAL, "Error", 0 },
};

static void try(const struct outcome *expected, const struct decode_format *format)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf out = BUF_INIT;
	int ret = spec_filter_compile(&world, format, expected->text, strlen(expected->text), &out, &error);

	if (ret != -expected->error || error.code != ret || (error.message == NULL) != (expected->message == NULL) ||
	    (error.message && (strcmp(error.message, expected->message) || error.pos != expected->pos ||
			       strcmp(error.location, "event filter parse error")))) {
		printf("%s\n\texpected %d %s at %u\n\tgot %d %s at %u\n", expected->text, -expected->error,
		       expected->message ? expected->message : "", expected->pos, ret, error.message ? error.message : "",
		       error.pos);
		failures++;
	}
	if (ret)
		check(!out.len);
	else
		check(program_verify(out.data, out.len));
	buf_fini(&out);
	spec_error_fini(&error);
}

static uint32_t peek(void *to, uint64_t address, uint32_t len, bool text)
{
	const char *from = (const char *)(uintptr_t)address;
	uint32_t n = text ? (uint32_t)strnlen(from, len - 1) + 1 : len;

	memcpy(to, from, n);
	return address ? n : 0;
}

static struct record sample_record(void)
{
	struct record r = {
		.type = 301, .pid = 77, .name = "make", .byte = 200, .small = -3, .half = 65535, .count = 4000000000u,
		.ip = 0x1010, .ratio = 0.25, .part = 1.5f, .path = 80 | 9 << 16, .cpus = 96 | 8 << 16,
	};
	uint64_t mask = 1 << 1 | 1 << 4;

	r.pointed = (uint64_t)(uintptr_t)"a pointer's text";
	memcpy(r.tail, "/dev/shm", 9);
	memcpy(r.tail + 16, &mask, sizeof(mask));
	return r;
}

/* What the filter says of the sample, with `anything` believed or not. */
static bool says(const struct decode_format *format, const char *text, bool anything)
{
	const struct spec_world any = { .function = function, .anything = anything };
	struct program_field fields[PROGRAM_FIELDS_MAX];
	struct spec_error error = SPEC_ERROR_INIT;
	struct record record = sample_record();
	struct program_input in = { .rec = &record, .len = sizeof(record), .cpu = 5, .fields = fields, .comm = "sh", .peek = peek };
	struct buf out = BUF_INIT;
	const char *body = strchr(strchr(sample, '\n') + 1, '\t');
	bool ok = false;

	if (spec_filter_compile(&any, anything ? NULL : format, text, strlen(text), &out, &error)) {
		printf("%s: %s at %u\n", text, error.text, error.pos);
		failures++;
	} else {
		check(program_verify(out.data, out.len));
		program_link(out.data, out.len, body, strlen(body), fields);
		ok = program_test(out.data, out.len, &in);
	}
	buf_fini(&out);
	spec_error_fini(&error);
	return ok;
}

static const struct {
	const char *text;
	bool truth;
	bool typed;		/* nothing can be said of it before the event is known */
} truths[] = {
	{ "byte == 200", true, false },
	{ "byte == 456", true, false },
	{ "byte != 200", false, false },
	{ "byte > 199 && byte < 201", true, false },
	{ "small == -3 && small < 0", true, false },
	{ "small >= -3 && small <= -3", true, false },
	{ "half == 65535 && half > 5", true, false },
	{ "count > 3999999999", true, false },
	{ "count & 0x80000000", true, false },
	{ "count & 1", false, false },
	{ "name == 'make' && name != \"mak\"", true, false },
	{ "name ~ 'm*' && name ~ '*ke' && name ~ \"*ak*\"", true, false },
	{ "name ~ 'm?[a-k]e'", true, false },
	{ "name ~ '!m*'", false, false },
	{ "name ~ '!x*'", true, false },
	{ "name ~ '*'", true, false },
	{ "name ~ 'mak'", false, false },
	{ "path == \"/dev/shm\" && path ~ '/dev/*'", true, false },
	{ "path ~ '*x*' || path ~ '*/shm'", true, false },
	{ "pointed == \"a pointer's text\"", true, true },
	{ "pointed.ustring ~ \"a *\"", true, false },
	{ "ip.function == vfs_read", true, false },
	{ "ip.function != vfs_read", false, false },
	{ "ip.function == 0x1004", true, false },
	{ "cpus & CPUS{3-5}", true, true },
	{ "cpus == CPUS{1,4}", true, true },
	{ "cpus != CPUS{1,4}", false, true },
	{ "CPU == CPUS{5} && CPU & CPUS{4-6} && cpu != CPUS{4-6}", true, false },
	{ "byte & CPUS{200}", true, false },
	{ "CPU == 5 && common_cpu < 6", true, false },
	{ "COMM == \"sh\" && comm ~ \"s*\"", true, false },
	{ "common_pid == 77 && common_type == 301", true, false },
	{ "ratio == 0.25 && ratio < 1 && ratio > -0.5", true, true },
	{ "part == 1.5 && part != 1.5", false, true },
	{ "part > ratio", true, true },
	{ "byte > 199.5", true, false },
	{ "byte < count && half > byte", true, true },
	{ "name == COMM", false, false },
	{ "three == 1 || stacktrace == 1 || CPU & 1", false, true },
	{ "byte == 1 || byte == 2 && byte == 200", false, false },
	{ "byte == 200 || byte == 2 && byte == 3", true, false },
	{ "(byte == 200 || byte == 2) && byte == 3", false, false },
	{ "!(byte == 200 && (half == 1 || count == 2))", true, false },
	{ "!byte == 200 || !(half == 1)", true, false },
	{ "! ! byte == 200", true, false },
	{ "!(!(byte == 1))", false, false },
};

static void run(const struct decode_format *format)
{
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++) {
		if (says(format, truths[i].text, false) != truths[i].truth ||
		    (!truths[i].typed && says(format, truths[i].text, true) != truths[i].truth)) {
			printf("%s is not %d\n", truths[i].text, truths[i].truth);
			failures++;
		}
	}
}

/* The longest text and one more. */
static void long_texts(const struct decode_format *format)
{
	char text[300] = "prev_comm ~ \"";
	struct outcome outcome = { text, 0, NULL, 0 };

	memset(text + 13, 'a', 255);
	strcpy(text + 13 + 255, "\"");
	try(&outcome, format);
	strcpy(text + 13 + 255, "a\"");
	outcome = (struct outcome){ text, EINVAL, "Operand too long", 1 + 13 + 256 };
	try(&outcome, format);
}

/* As many terms as there is room for, and more. */
static void large(const struct decode_format *format)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf text = BUF_INIT, out = BUF_INIT;

	for (int i = 0; i < 300; i++)
		buf_printf(&text, "%sprev_pid == %d", i ? " || " : "", i);
	check(!spec_filter_compile(&world, format, text.data, text.len, &out, &error));
	check(program_verify(out.data, out.len));
	for (int i = 0; i < 3000; i++)
		buf_printf(&text, " || prev_pid == %d", i);
	buf_reset(&out);
	check(spec_filter_compile(&world, format, text.data, text.len, &out, &error) == -E2BIG && error.text[0] && !error.message);
	buf_fini(&text);
	buf_fini(&out);
	spec_error_fini(&error);
}

/* People are told which of the comparisons is meant. */
static void words(const struct decode_format *format)
{
	static const struct {
		const char *text, *words;
	} all[] = {
		{ "prev_pid == 1 && prev_pid === 3 || prev_prio == 2", "Invalid value (did you forget quotes)?: prev_pid === 3" },
		{ "prev_pid == 1 ||nope == 2 ", "Field not found: nope == 2" },
		{ "&& prev_pid == 1", "a field is expected: && prev_pid == 1" },
		{ "()", "nothing is compared: ()" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct spec_error error = SPEC_ERROR_INIT;
		struct buf out = BUF_INIT;

		check(spec_filter_compile(&world, format, all[i].text, strlen(all[i].text), &out, &error) < 0);
		if (strcmp(error.text, all[i].words)) {
			printf("%s: %s\n", all[i].text, error.text);
			failures++;
		}
		buf_fini(&out);
		spec_error_fini(&error);
	}
}

static void try_all(const struct outcome *outcomes, size_t n, const char *text)
{
	struct decode_format *format = parse(text);

	while (n--)
		try(outcomes++, format);
	decode_format_free(format);
}
#define TRY(outcomes, text) try_all(outcomes, sizeof(outcomes) / sizeof((outcomes)[0]), text)

int main(void)
{
	struct decode_format *format = parse(sched_switch);

	TRY(kernel, sched_switch);
	TRY(kernel_pointers, pointers);
	TRY(kernel_exec, process_exec);
	TRY(beyond, sched_switch);
	long_texts(format);
	words(format);
	large(format);
	decode_format_free(format);
	format = parse(sample);
	run(format);
	decode_format_free(format);
	return failures ? 1 : 0;
}
