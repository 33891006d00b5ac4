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
	{ "file", ",access,chdir,chmod,chown,chroot,creat,execve,execveat,faccessat,faccessat2,fchmodat,fchownat,getcwd,getxattr,"
		  "inotify_add_watch,lchown,lgetxattr,link,linkat,listxattr,lsetxattr,lstat,mkdir,mkdirat,mknod,mknodat,mount,"
		  "newfstatat,open,openat,openat2,readlink,readlinkat,rename,renameat,renameat2,rmdir,setxattr,stat,statfs,"
		  "statx,symlink,symlinkat,truncate,umount2,unlink,unlinkat,utime,utimensat,utimes," },
	{ "network", ",accept,accept4,bind,connect,getpeername,getsockname,getsockopt,listen,recvfrom,recvmmsg,recvmsg,sendmmsg,sendmsg,"
		     "sendto,setsockopt,shutdown,socket,socketpair,sendfile," },
	{ "process", ",clone,clone3,execve,execveat,exit,exit_group,fork,kill,pidfd_open,pidfd_send_signal,rt_sigqueueinfo,tgkill,tkill,"
		     "unshare,vfork,wait4,waitid," },
	{ "memory", ",brk,madvise,mbind,mincore,mlock,mlock2,mlockall,mmap,mprotect,mremap,mseal,msync,munlock,munlockall,munmap," },
	{ "signal", ",kill,pause,rt_sigaction,rt_sigpending,rt_sigprocmask,rt_sigqueueinfo,rt_sigreturn,rt_sigsuspend,rt_sigtimedwait,"
		    "sigaltstack,signalfd,signalfd4,tgkill,tkill," },
	{ "desc", ",close,close_range,dup,dup2,dup3,epoll_create1,epoll_ctl,epoll_pwait,epoll_wait,eventfd2,fadvise64,fallocate,"
		  "fchdir,fchmod,fchown,fcntl,fdatasync,flock,fstat,fsync,ftruncate,getdents64,ioctl,lseek,mmap,newfstatat,openat,"
		  "pipe,pipe2,poll,ppoll,pread64,preadv,pselect6,pwrite64,pwritev,read,readv,select,sendfile,splice,tee,timerfd_create,"
		  "timerfd_settime,write,writev," },
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
