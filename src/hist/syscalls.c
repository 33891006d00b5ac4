/*
 * hist/syscalls: names of system calls by number, as the kernel's own events have them. See show.h.
 *
 * Made of the headers that this was built with; the numbers of newer ones are the same on every machine.
 */
#include <string.h>
#include <sys/syscall.h>

#include "hist/show.h"

struct call {
	uint64_t number;
	const char *name;
};

static const struct call calls[] = {
#include "hist/syscall_names.h"
};

static const struct call newer[] = {
	{ 451, "sys_cachestat" }, { 452, "sys_fchmodat2" }, { 453, "sys_map_shadow_stack" }, { 454, "sys_futex_wake" },
	{ 455, "sys_futex_wait" }, { 456, "sys_futex_requeue" }, { 457, "sys_statmount" }, { 458, "sys_listmount" },
	{ 459, "sys_lsm_get_self_attr" }, { 460, "sys_lsm_set_self_attr" }, { 461, "sys_lsm_list_modules" },
	{ 462, "sys_mseal" },
#ifdef __x86_64__
	{ 335, "sys_uretprobe" },
#endif
};

/* Called otherwise by those who implement them, or not at all. */
static const struct {
	const char *name, *kernel;
} differ[] = {
	{ "sys_stat", "sys_newstat" }, { "sys_fstat", "sys_newfstat" }, { "sys_lstat", "sys_newlstat" },
	{ "sys_sendfile", "sys_sendfile64" }, { "sys_uname", "sys_newuname" }, { "sys_umount2", "sys_umount" },
	{ "sys_uselib", NULL }, { "sys__sysctl", NULL }, { "sys_create_module", NULL }, { "sys_get_kernel_syms", NULL },
	{ "sys_query_module", NULL }, { "sys_nfsservctl", NULL }, { "sys_getpmsg", NULL }, { "sys_putpmsg", NULL },
	{ "sys_afs_syscall", NULL }, { "sys_tuxcall", NULL }, { "sys_security", NULL }, { "sys_lookup_dcookie", NULL },
	{ "sys_epoll_ctl_old", NULL }, { "sys_epoll_wait_old", NULL }, { "sys_vserver", NULL },
#ifdef __x86_64__
	{ "sys_set_thread_area", NULL }, { "sys_get_thread_area", NULL },
#endif
};

static const char *find(const struct call *list, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return list[i].name;
	return NULL;
}

const char *hist_syscall(uint64_t number)
{
	const char *name = find(newer, sizeof(newer) / sizeof(newer[0]), number);

	if (!name)
		name = find(calls, sizeof(calls) / sizeof(calls[0]), number);
	for (size_t i = 0; name && i < sizeof(differ) / sizeof(differ[0]); i++)
		if (!strcmp(name, differ[i].name))
			return differ[i].kernel;
	return name;
}
