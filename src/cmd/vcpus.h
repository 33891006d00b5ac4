/*
 * cmd/vcpus: what a host's trace tells of a guest: which of its threads ran which virtual CPU, and
 * how far the guest's time stamp counter was from its own.
 */
#ifndef CMD_VCPUS_H
#define CMD_VCPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dat/dat.h"

struct vcpu {
	int32_t pid;		/* of the host's thread; -1: not known */
	bool has_offset;
	int64_t offset;		/* that the host adds to its counter for the guest */
};

/*
 * Looks for `nr` virtual CPUs among the threads `pids`, or, if there are none of these, among all.
 * -ENOENT: none of them ran one. -EINVAL: two ran the same one.
 */
int vcpus_find(struct vcpu *vcpus, uint32_t nr, const int32_t *pids, size_t nr_pids,
	       struct dat *host, struct err *err);

#endif
