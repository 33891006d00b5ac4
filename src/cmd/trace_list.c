/*
 * cmd/trace_list: lists of system calls, as people write them: names and classes. See trace_args.h.
 */
#include <stdio.h>
#include <string.h>

#include "cmd/trace_args.h"
#include "control/calls.h"

static const struct {
	const char *name, *calls;
} classes[] = {
	{ "file", ",access,acct,chdir,chmod,chown,chroot,creat,execve,execveat,faccessat,faccessat2,fanotify_mark,fchmodat,"
		  "fchownat,fsconfig,fspick,futimesat,getcwd,getxattr,inotify_add_watch,lchown,lgetxattr,link,linkat,listxattr,"
		  "llistxattr,lremovexattr,lsetxattr,lstat,mkdir,mkdirat,mknod,mknodat,mount,mount_setattr,move_mount,"
		  "name_to_handle_at,newfstatat,open,open_tree,openat,openat2,pivot_root,quotactl,readlink,readlinkat,"
		  "removexattr,rename,renameat,renameat2,rmdir,setxattr,stat,statfs,statx,swapoff,swapon,symlink,symlinkat,"
		  "truncate,umount2,unlink,unlinkat,uselib,utime,utimensat,utimes," },
	{ "network", ",accept,accept4,bind,connect,getpeername,getpmsg,getsockname,getsockopt,listen,putpmsg,recvfrom,recvmmsg,"
		     "recvmsg,sendfile,sendmmsg,sendmsg,sendto,setsockopt,shutdown,socket,socketpair," },
	{ "process", ",clone,clone3,execve,execveat,exit,exit_group,fork,kill,pidfd_send_signal,rt_sigqueueinfo,"
		     "rt_tgsigqueueinfo,tgkill,tkill,vfork,wait4,waitid," },
	{ "memory", ",brk,get_mempolicy,io_destroy,io_setup,io_uring_register,madvise,mbind,migrate_pages,mincore,mlock,mlock2,"
		    "mlockall,mmap,move_pages,mprotect,mremap,mseal,msync,munlock,munlockall,munmap,pkey_mprotect,"
		    "remap_file_pages,set_mempolicy,set_mempolicy_home_node,shmat,shmdt," },
	{ "signal", ",io_uring_enter,kill,pause,pidfd_send_signal,rt_sigaction,rt_sigpending,rt_sigprocmask,rt_sigqueueinfo,"
		    "rt_sigreturn,rt_sigsuspend,rt_sigtimedwait,rt_tgsigqueueinfo,sigaltstack,signalfd,signalfd4,tgkill,tkill," },
	{ "desc", ",bpf,close,close_range,copy_file_range,creat,dup,dup2,dup3,epoll_create,epoll_create1,epoll_ctl,epoll_pwait,"
		  "epoll_pwait2,epoll_wait,eventfd,eventfd2,execveat,faccessat,faccessat2,fadvise64,fallocate,fanotify_init,"
		  "fanotify_mark,fchdir,fchmod,fchmodat,fchown,fchownat,fcntl,fdatasync,fgetxattr,finit_module,flistxattr,"
		  "flock,fremovexattr,fsconfig,fsetxattr,fsmount,fsopen,fspick,fstat,fstatfs,fsync,ftruncate,futimesat,"
		  "getdents,getdents64,inotify_add_watch,inotify_init,inotify_init1,inotify_rm_watch,io_uring_enter,"
		  "io_uring_register,io_uring_setup,ioctl,kexec_file_load,landlock_add_rule,landlock_create_ruleset,"
		  "landlock_restrict_self,linkat,lseek,memfd_create,memfd_secret,mkdirat,mknodat,mmap,mount_setattr,move_mount,"
		  "mq_getsetattr,mq_notify,mq_open,mq_timedreceive,mq_timedsend,name_to_handle_at,newfstatat,open,"
		  "open_by_handle_at,open_tree,openat,openat2,perf_event_open,pidfd_getfd,pidfd_open,pidfd_send_signal,pipe,"
		  "pipe2,poll,ppoll,pread64,preadv,preadv2,process_madvise,process_mrelease,pselect6,pwrite64,pwritev,pwritev2,"
		  "quotactl_fd,read,readahead,readlinkat,readv,renameat,renameat2,select,sendfile,setns,signalfd,signalfd4,"
		  "splice,statx,symlinkat,sync_file_range,syncfs,tee,timerfd_create,timerfd_gettime,timerfd_settime,unlinkat,"
		  "userfaultfd,utimensat,vmsplice,write,writev," },
};

/* Is the name among those between commas? */
static bool is_among(const char *calls, const char *name)
{
	char with[80];

	snprintf(with, sizeof(with), ",%s,", name);
	return strstr(calls, with) != NULL;
}

static bool word_has(const char *word, size_t len, const char *name)
{
	const bool percent = len && *word == '%';

	if ((len == 3 && !strncmp(word, "all", 3)) || (strlen(name) == len && !strncmp(word, name, len)))
		return true;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strlen(classes[i].name) == len - percent && !strncmp(word + percent, classes[i].name, len - percent))
			return is_among(classes[i].calls, name);
	return false;
}

bool trace_list_check(const char *list, const char **wrong, size_t *len)
{
	list += *list == '!';
	for (;; list++) {
		bool any = false;

		*wrong = list;
		*len = strcspn(list, ",");
		for (uint64_t n = 0; n < CALLS_MAX && !any; n++)
			any = control_call_name(n) && word_has(list, *len, control_call_name(n));
		if (!any)
			return false;
		list += *len;
		if (!*list)
			return true;
	}
}

bool trace_list_has(const char *list, uint64_t number)
{
	const char *name = control_call_name(number);
	const bool not = *list == '!';

	if (!name)
		return not;
	for (list += not;; list++) {
		size_t len = strcspn(list, ",");

		if (word_has(list, len, name))
			return !not;
		list += len;
		if (!*list)
			return not;
	}
}
