/*
 * agree_work - what tests/vm/agree.sh lets two recorders record: the same each time, and nothing else does it.
 *
 * Between two calls that nobody makes (a wrong getpriority) a hundred rounds of reads, writes and calls of the scheduler.
 */
#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MARK 4711

int main(void)
{
	int zero = open("/dev/zero", O_RDONLY), null = open("/dev/null", O_WRONLY);
	static char bytes[64];

	syscall(SYS_getpriority, MARK, 1);
	for (int i = 0; i < 100; i++) {
		syscall(SYS_read, zero, bytes, i % 64);
		syscall(SYS_write, null, bytes, i % 64);
		syscall(SYS_sched_get_priority_max, i % 3);
		syscall(SYS_close, 1000 + i);
	}
	syscall(SYS_getpriority, MARK, 2);
	return 0;
}
