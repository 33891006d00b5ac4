/*
 * control/calls: see calls.h. In a transaction.
 */
#include "control/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/glob.h"
#include "control/named.h"
#include "control/registry.h"
#include "control/rules.h"
#include "layout/hook.h"

#define RAW "raw_syscalls"
#define EACH "syscalls"
#define ENTER "sys_enter_"
#define EXIT "sys_exit_"
#define PROCESS "sched_process_"

#define A(n, kind) ((uint32_t)CALL_DATA_##kind << 4 * (n))

/* What arguments point to, where it is worth the look. */
static const struct {
	const char *name;
	uint32_t data;
} pointers[] = {
	{ "access", A(0, TEXT) }, { "chdir", A(0, TEXT) }, { "chmod", A(0, TEXT) }, { "chown", A(0, TEXT) },
	{ "chroot", A(0, TEXT) }, { "creat", A(0, TEXT) }, { "lchown", A(0, TEXT) }, { "mkdir", A(0, TEXT) },
	{ "mknod", A(0, TEXT) }, { "open", A(0, TEXT) }, { "rmdir", A(0, TEXT) }, { "statfs", A(0, TEXT) },
	{ "truncate", A(0, TEXT) }, { "unlink", A(0, TEXT) }, { "utime", A(0, TEXT) }, { "utimes", A(0, TEXT) },
	{ "umount2", A(0, TEXT) }, { "memfd_create", A(0, TEXT) }, { "swapon", A(0, TEXT) }, { "swapoff", A(0, TEXT) },
	{ "getxattr", A(0, TEXT) | A(1, TEXT) }, { "lgetxattr", A(0, TEXT) | A(1, TEXT) }, { "fgetxattr", A(1, TEXT) },
	{ "setxattr", A(0, TEXT) | A(1, TEXT) }, { "lsetxattr", A(0, TEXT) | A(1, TEXT) }, { "fsetxattr", A(1, TEXT) },
	{ "listxattr", A(0, TEXT) }, { "llistxattr", A(0, TEXT) },
	{ "link", A(0, TEXT) | A(1, TEXT) }, { "rename", A(0, TEXT) | A(1, TEXT) }, { "symlink", A(0, TEXT) | A(1, TEXT) },
	{ "mount", A(0, TEXT) | A(1, TEXT) | A(2, TEXT) },
	{ "openat", A(1, TEXT) }, { "openat2", A(1, TEXT) }, { "faccessat", A(1, TEXT) }, { "faccessat2", A(1, TEXT) },
	{ "fchmodat", A(1, TEXT) }, { "fchmodat2", A(1, TEXT) }, { "fchownat", A(1, TEXT) }, { "mkdirat", A(1, TEXT) },
	{ "mknodat", A(1, TEXT) }, { "unlinkat", A(1, TEXT) }, { "utimensat", A(1, TEXT) }, { "name_to_handle_at", A(1, TEXT) },
	{ "inotify_add_watch", A(1, TEXT) }, { "statx", A(1, TEXT) },
	{ "linkat", A(1, TEXT) | A(3, TEXT) }, { "renameat", A(1, TEXT) | A(3, TEXT) }, { "renameat2", A(1, TEXT) | A(3, TEXT) },
	{ "symlinkat", A(0, TEXT) | A(2, TEXT) },
	{ "stat", A(0, TEXT) | A(1, OUT144) }, { "lstat", A(0, TEXT) | A(1, OUT144) }, { "fstat", A(1, OUT144) },
	{ "newfstatat", A(1, TEXT) | A(2, OUT144) },
	{ "readlink", A(0, TEXT) | A(1, OUT) }, { "readlinkat", A(1, TEXT) | A(2, OUT) }, { "getcwd", A(0, OUT_TEXT) },
	{ "read", A(1, OUT) }, { "pread64", A(1, OUT) }, { "recvfrom", A(1, OUT) }, { "getrandom", A(0, OUT) },
	{ "write", A(1, IN) }, { "pwrite64", A(1, IN) }, { "sendto", A(1, IN) | A(4, IN) },
	{ "bind", A(1, IN) }, { "connect", A(1, IN) },
	{ "pipe", A(0, OUT8) }, { "pipe2", A(0, OUT8) }, { "socketpair", A(3, OUT8) }, { "wait4", A(1, OUT8) },
	{ "execve", A(0, TEXT) | A(1, TEXTS) }, { "execveat", A(1, TEXT) | A(2, TEXTS) },
	{ "nanosleep", A(0, IN16) }, { "clock_nanosleep", A(2, IN16) }, { "clock_gettime", A(1, OUT16) },
	{ "getrlimit", A(1, OUT16) }, { "setrlimit", A(1, IN16) }, { "prlimit64", A(2, IN16) | A(3, OUT16) },
	{ "rt_sigprocmask", A(1, IN8) | A(2, OUT8) }, { "rt_sigaction", A(1, IN32) }, { "poll", A(0, IN8) },
};

uint32_t control_call_data(const char *name)
{
	for (size_t i = 0; i < sizeof(pointers) / sizeof(pointers[0]); i++)
		if (!strcmp(pointers[i].name, name))
			return pointers[i].data;
	return 0;
}

/* May a rule mean one of these events? Names of others are told without a look at all of them. */
static bool may_mean(const struct state_rule *rule)
{
	if (!rule->on)
		return false;
	if (!strcmp(rule->system, "ringside") || !strcmp(rule->system, "signal") || !strcmp(rule->event, "signal_generate") ||
	    !strcmp(rule->event, "signal_deliver") || !strcmp(rule->system, "sched") || !strncmp(rule->event, PROCESS, strlen(PROCESS)))
		return true;
	return (glob_match(rule->system, RAW) || glob_match(rule->system, EACH)) &&
	       (strpbrk(rule->event, "*?[\\") || !strncmp(rule->event, "sys_e", 5));
}

static bool may_be_wanted(const struct control_state *state)
{
	const struct state_hook *hook = (const struct state_hook *)(const void *)state->hooks.data;

	for (uint32_t i = 0; i < state->nrules; i++)
		if (may_mean(&state->rules[i]))
			return true;
	for (size_t n = state->hooks.len / sizeof(*hook); n; n--, hook++)
		if (hook->nacts && (!strcmp(hook->system, RAW) || !strcmp(hook->system, EACH)))
			return true;
	return false;
}

static bool is_wanted(const struct control_state *state, const struct control_event *event)
{
	return control_rules_any(state, event->system, event->name) || control_hooks_on(state, event->system, event->name);
}

/* As many as its text has fields behind the number's. */
static uint8_t count_args(const struct control_event *event)
{
	uint32_t n = 0;

	for (const char *at = strstr(event->body, "__syscall_nr"); at && (at = strstr(at, "\tfield:")) && n < CALLS_ARGS; at += 7)
		n++;
	return (uint8_t)n;
}

static bool put_each(struct state_calls *calls, const struct control_event *event)
{
	const bool exits = !strncmp(event->name, EXIT, strlen(EXIT));
	int number;

	if (!exits && strncmp(event->name, ENTER, strlen(ENTER)) != 0)
		return false;
	number = control_call_number(event->name + strlen(exits ? EXIT : ENTER));
	if (number < 0)
		return false;
	if (exits) {
		calls->exit[number] = (uint16_t)event->id;
	} else {
		calls->enter[number] = (uint16_t)event->id;
		calls->nargs[number] = count_args(event);
	}
	return true;
}

static bool put_one(struct state_calls *calls, const struct control_event *event)
{
	if (!strcmp(event->system, EACH))
		return put_each(calls, event);
	if (!strcmp(event->name, "sys_enter"))
		calls->raw_enter = (uint16_t)event->id;
	else if (!strcmp(event->name, "sys_exit"))
		calls->raw_exit = (uint16_t)event->id;
	else
		return false;
	return true;
}

/* Not just because everything is. */
static bool is_named(const struct control_state *state, const struct control_event *event)
{
	bool on = false;

	for (uint32_t i = 0; i < state->nrules; i++)
		on |= state->rules[i].on && (!strcmp(state->rules[i].system, event->system) || !strcmp(state->rules[i].event, event->name));
	return on && is_wanted(state, event);
}

/* It is dear, and means nothing without the others. */
static void put_data(struct state_calls *calls, const struct control_state *state, const struct control_event *event)
{
	if (!is_named(state, event))
		return;
	calls->data_id = (uint16_t)event->id;
	for (uint32_t i = 0; i < CALLS_MAX; i++)
		calls->data[i] = control_call_name(i) ? control_call_data(control_call_name(i)) : 0;
}

static bool put_signal(struct state_calls *calls, const struct control_event *event)
{
	if (!strcmp(event->name, "signal_generate"))
		calls->generate_id = (uint16_t)event->id;
	else if (!strcmp(event->name, "signal_deliver"))
		calls->deliver_id = (uint16_t)event->id;
	else
		return false;
	return true;
}

/* Processes and threads that begin and end are seen at the calls for it; their events are programs' own. */
static bool is_of_process(const struct control_event *event)
{
	return !strcmp(event->system, "sched") && (!strcmp(event->name, PROCESS "fork") || !strcmp(event->name, PROCESS "exit"));
}

static bool put_all(struct state_calls *calls, const struct control_state *state, const struct control_registry *registry)
{
	bool any = false;

	for (uint32_t i = 0; i < registry->nevents; i++) {
		const struct control_event *event = &registry->events[i];

		if (!strcmp(event->system, "ringside") && !strcmp(event->name, "call_data"))
			put_data(calls, state, event);
		else if (!strcmp(event->system, "signal") && is_named(state, event))
			any |= put_signal(calls, event);
		else if (is_of_process(event) && is_named(state, event))
			any = true;
		else if ((!strcmp(event->system, RAW) || !strcmp(event->system, EACH)) && event->shown && is_wanted(state, event))
			any |= put_one(calls, event);
	}
	return any;
}

int control_calls_fill(struct control *control, struct err *err)
{
	struct control_state *state = &control->state;
	struct control_registry registry;
	struct state_calls *calls;
	int r;

	buf_reset(&state->calls);
	if (control_call_number("read") < 0 || !may_be_wanted(state))
		return 0;
	control_named_ensure(&control->dir, NULL);
	r = control_registry_read(&registry, &control->dir, CONTROL_REGISTRY_EVENTS, err);
	if (r)
		return r;
	calls = calloc(1, sizeof(*calls));
	if (calls && put_all(calls, state, &registry))
		buf_add(&state->calls, calls, sizeof(*calls));
	r = !calls || buf_failed(&state->calls) ? err_set(err, -ENOMEM, "out of memory") : 0;
	free(calls);
	control_registry_fini(&registry);
	return r;
}
