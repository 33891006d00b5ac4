/*
 * mount/cpus: see cpus.h.
 */
#include "mount/cpus.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

static void *work(void *arg)
{
	struct cpus_worker *worker = arg;
	struct cpus_job *job;

	pthread_mutex_lock(&worker->lock);
	for (;;) {
		while (!worker->first && !worker->ending)
			pthread_cond_wait(&worker->changed, &worker->lock);
		job = worker->first;
		if (!job)
			break;
		worker->first = job->next;
		if (!worker->first)
			worker->last = &worker->first;
		pthread_mutex_unlock(&worker->lock);
		job->run(job);
		pthread_mutex_lock(&worker->lock);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

/* Under its lock. A CPU that is not to be had, such as one that is offline, makes a worker anywhere. */
static int start(struct cpus_worker *worker)
{
	size_t size = CPU_ALLOC_SIZE(worker->cpu + 1);
	cpu_set_t *set = CPU_ALLOC(worker->cpu + 1);
	int r;

	if (!set)
		return -ENOMEM;
	r = -pthread_create(&worker->thread, NULL, work, worker);
	if (!r) {
		worker->running = true;
		CPU_ZERO_S(size, set);
		CPU_SET_S(worker->cpu, size, set);
		pthread_setaffinity_np(worker->thread, size, set);
	}
	CPU_FREE(set);
	return r;
}

int cpus_init(struct cpus *cpus)
{
	cpus->n = get_nprocs_conf();
	cpus->workers = calloc((size_t)cpus->n, sizeof(*cpus->workers));
	if (!cpus->workers)
		return -ENOMEM;
	for (int i = 0; i < cpus->n; i++) {
		struct cpus_worker *worker = &cpus->workers[i];

		worker->cpu = i;
		worker->last = &worker->first;
		pthread_mutex_init(&worker->lock, NULL);
		pthread_cond_init(&worker->changed, NULL);
	}
	return 0;
}

void cpus_fini(struct cpus *cpus)
{
	for (int i = 0; i < cpus->n; i++) {
		struct cpus_worker *worker = &cpus->workers[i];

		pthread_mutex_lock(&worker->lock);
		worker->ending = true;
		pthread_cond_signal(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
		if (worker->running)
			pthread_join(worker->thread, NULL);
		pthread_cond_destroy(&worker->changed);
		pthread_mutex_destroy(&worker->lock);
	}
	free(cpus->workers);
	*cpus = (struct cpus){ 0 };
}

int cpus_do(struct cpus *cpus, int cpu, struct cpus_job *job)
{
	struct cpus_worker *worker = &cpus->workers[cpu >= 0 && cpu < cpus->n ? cpu : 0];
	int r = 0;

	pthread_mutex_lock(&worker->lock);
	if (!worker->running)
		r = start(worker);
	if (!r) {
		job->next = NULL;
		*worker->last = job;
		worker->last = &job->next;
		pthread_cond_signal(&worker->changed);
	}
	pthread_mutex_unlock(&worker->lock);
	return r;
}
