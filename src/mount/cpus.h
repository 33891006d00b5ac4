/*
 * mount/cpus: one worker on each CPU, made when first needed: a record lands in the ring of the CPU on
 * which its writer runs.
 */
#ifndef MOUNT_CPUS_H
#define MOUNT_CPUS_H

#include <pthread.h>
#include <stdbool.h>

/* Embedded in what is to be done; `run` may free it. */
struct cpus_job {
	struct cpus_job *next;
	void (*run)(struct cpus_job *job);
};

struct cpus_worker {
	pthread_t thread;
	bool running;
	int cpu;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct cpus_job *first, **last;
	bool ending;
};

struct cpus {
	struct cpus_worker *workers;
	int n;
};

int cpus_init(struct cpus *cpus);
/* What is queued is done first. */
void cpus_fini(struct cpus *cpus);

/* Has it done on that CPU, soon; on any when there is no such CPU. -errno: it will not be done. */
int cpus_do(struct cpus *cpus, int cpu, struct cpus_job *job);

#endif
