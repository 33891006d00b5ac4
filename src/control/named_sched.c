/*
 * control/named_sched: events of scheduling. What speaks of kernel threads and of NUMA balancing is left out.
 */
#include "control/named.h"

#define STATES "(0x00000000 | 0x00000001 | 0x00000002 | 0x00000004 | 0x00000008 | 0x00000010 | 0x00000020 | 0x00000040)"
#define STATES_MAX "((" STATES " + 1) << 1)"

#define TASK "string comm; pid_t pid; int prio"
#define TASK_PRINT "\"comm=%s pid=%d prio=%d\", __get_str(comm), REC->pid, REC->prio"

#define WAKE "char comm[16]; pid_t pid; int prio; int target_cpu"
#define WAKE_PRINT \
	"\"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, REC->target_cpu"

#define DELAY "string comm; pid_t pid; u64 delay"
#define DELAY_PRINT \
	"\"comm=%s pid=%d delay=%Lu [ns]\", __get_str(comm), REC->pid, (unsigned long long)REC->delay"

const struct named_event named_sched[] = {
	{ "sched_migrate_task",
	  "string comm; pid_t pid; int prio; int orig_cpu; int dest_cpu",
	  "\"comm=%s pid=%d prio=%d orig_cpu=%d dest_cpu=%d\", __get_str(comm), REC->pid, REC->prio, REC->orig_cpu, "
	  "REC->dest_cpu" },
	{ "sched_pi_setprio",
	  "string comm; pid_t pid; int oldprio; int newprio",
	  "\"comm=%s pid=%d oldprio=%d newprio=%d\", __get_str(comm), REC->pid, REC->oldprio, REC->newprio" },
	{ "sched_prepare_exec",
	  "string interp; string filename; pid_t pid; string comm",
	  "\"interp=%s filename=%s pid=%d comm=%s\", __get_str(interp), __get_str(filename), REC->pid, __get_str(comm)" },
	{ "sched_process_exec",
	  "string filename; pid_t pid; pid_t old_pid",
	  "\"filename=%s pid=%d old_pid=%d\", __get_str(filename), REC->pid, REC->old_pid" },
	{ "sched_process_exit",
	  "char comm[16]; pid_t pid; int prio; bool group_dead",
	  "\"comm=%s pid=%d prio=%d group_dead=%s\", REC->comm, REC->pid, REC->prio, "
	  "REC->group_dead ? \"true\" : \"false\"" },
	{ "sched_process_fork",
	  "string parent_comm; pid_t parent_pid; string child_comm; pid_t child_pid",
	  "\"comm=%s pid=%d child_comm=%s child_pid=%d\", __get_str(parent_comm), REC->parent_pid, "
	  "__get_str(child_comm), REC->child_pid" },
	{ "sched_process_free", TASK, TASK_PRINT },
	{ "sched_process_hang", "string comm; pid_t pid", "\"comm=%s pid=%d\", __get_str(comm), REC->pid" },
	{ "sched_process_wait", TASK, TASK_PRINT },
	{ "sched_stat_blocked", DELAY, DELAY_PRINT },
	{ "sched_stat_iowait", DELAY, DELAY_PRINT },
	{ "sched_stat_runtime",
	  "string comm; pid_t pid; u64 runtime",
	  "\"comm=%s pid=%d runtime=%Lu [ns]\", __get_str(comm), REC->pid, (unsigned long long)REC->runtime" },
	{ "sched_stat_sleep", DELAY, DELAY_PRINT },
	{ "sched_stat_wait", DELAY, DELAY_PRINT },
	{ "sched_switch",
	  "char prev_comm[16]; pid_t prev_pid; int prev_prio; long prev_state; char next_comm[16]; pid_t next_pid; "
	  "int next_prio",
	  "\"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s%s ==> next_comm=%s next_pid=%d next_prio=%d\", "
	  "REC->prev_comm, REC->prev_pid, REC->prev_prio, "
	  "(REC->prev_state & (" STATES_MAX " - 1)) ? __print_flags(REC->prev_state & (" STATES_MAX " - 1), \"|\", "
	  "{ 0x00000001, \"S\" }, { 0x00000002, \"D\" }, { 0x00000004, \"T\" }, { 0x00000008, \"t\" }, "
	  "{ 0x00000010, \"X\" }, { 0x00000020, \"Z\" }, { 0x00000040, \"P\" }, { 0x00000080, \"I\" }) : \"R\", "
	  "REC->prev_state & " STATES_MAX " ? \"+\" : \"\", REC->next_comm, REC->next_pid, REC->next_prio" },
	{ "sched_wait_task", TASK, TASK_PRINT },
	{ "sched_wakeup", WAKE, WAKE_PRINT },
	{ "sched_wakeup_new", WAKE, WAKE_PRINT },
	{ "sched_waking", WAKE, WAKE_PRINT },
	{ NULL, NULL, NULL },
};
