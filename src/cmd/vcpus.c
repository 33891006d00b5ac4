/*
 * cmd/vcpus: see vcpus.h.
 */
#include "cmd/vcpus.h"

#include <errno.h>
#include <string.h>

#include "decode/format.h"
#include "replay/replay.h"

/* An event of the kvm system, by the field in which it has the virtual CPU. */
struct kvm_event {
	const struct decode_format *format;
	const struct decode_field *vcpu, *offset;
};

struct search {
	struct dat *host;
	struct vcpu *vcpus;
	uint32_t nr;
	const int32_t *pids;
	size_t nr_pids;
	struct kvm_event entry, exit, write;
};

static void find_event(struct search *search, const char *wanted, const char *offset,
		       struct kvm_event *out)
{
	const char *system, *name;
	uint32_t id;

	for (size_t i = 0; i < dat_nr_events(search->host); i++) {
		dat_event_name(search->host, i, &system, &name, &id);
		if (strcmp(system, "kvm") || strcmp(name, wanted))
			continue;
		out->format = dat_event_format(search->host, i, NULL);
		if (!out->format)
			return;
		out->vcpu = decode_format_find(out->format, "vcpu_id");
		out->offset = offset ? decode_format_find(out->format, offset) : NULL;
		if (!out->vcpu || (offset && !out->offset))
			out->format = NULL;
		return;
	}
}

static bool is_guest(const struct search *search, int32_t pid)
{
	for (size_t i = 0; i < search->nr_pids; i++)
		if (search->pids[i] == pid)
			return true;
	return !search->nr_pids;
}

static int see_thread(struct search *search, uint64_t vcpu, int32_t pid, struct err *err)
{
	int32_t *known;

	if (vcpu >= search->nr)
		return 0;
	known = &search->vcpus[vcpu].pid;
	if (*known >= 0 && *known != pid)
		return err_set(err, -EINVAL, "%.300s: threads %d and %d both ran virtual CPU %u: "
			       "name those of the guest", dat_info(search->host)->path, *known, pid,
			       (unsigned int)vcpu);
	*known = pid;
	return 0;
}

static int see(struct search *search, const struct replay_record *rec, struct err *err)
{
	const struct kvm_event *events[] = { &search->entry, &search->exit, &search->write };
	const struct kvm_event *event = NULL;
	struct record_head head;
	uint64_t vcpu;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		if (events[i]->format && events[i]->format->id == rec->id)
			event = events[i];
	if (!event || !decode_record_head(&event->format->abi, rec->data, rec->len, &head) ||
	    !is_guest(search, head.pid))
		return 0;
	vcpu = decode_field_int(event->format, event->vcpu, rec->data, rec->len);
	/* An offset may be set by another thread than the one that runs the CPU. */
	if (!event->offset)
		return see_thread(search, vcpu, head.pid, err);
	if (vcpu < search->nr) {
		search->vcpus[vcpu].has_offset = true;
		search->vcpus[vcpu].offset = (int64_t)decode_field_int(event->format, event->offset,
								       rec->data, rec->len);
	}
	return 0;
}

static int walk(struct search *search, struct replay *replay, struct err *err)
{
	struct replay_record rec;
	int r = replay_add(replay, search->host, NULL, NULL, NULL, err);

	while (!r && (r = replay_next(replay, &rec, err)) == 1)
		r = see(search, &rec, err);
	if (r)
		return r;
	for (uint32_t i = 0; i < search->nr; i++)
		if (search->vcpus[i].pid >= 0)
			return 0;
	return err_set(err, -ENOENT, "%.300s has no kvm_entry or kvm_exit of %s: record with "
		       "-e kvm", dat_info(search->host)->path,
		       search->nr_pids ? "these threads" : "any thread");
}

int vcpus_find(struct vcpu *vcpus, uint32_t nr, const int32_t *pids, size_t nr_pids,
	       struct dat *host, struct err *err)
{
	struct search search = { .host = host, .vcpus = vcpus, .nr = nr, .pids = pids,
				 .nr_pids = nr_pids };
	struct replay *replay;
	int r;

	for (uint32_t i = 0; i < nr; i++)
		vcpus[i] = (struct vcpu){ .pid = -1 };
	find_event(&search, "kvm_entry", NULL, &search.entry);
	find_event(&search, "kvm_exit", NULL, &search.exit);
	find_event(&search, "kvm_write_tsc_offset", "next_tsc_offset", &search.write);
	r = replay_new(&replay);
	if (r)
		return err_set(err, r, "out of memory");
	r = walk(&search, replay, err);
	replay_free(replay);
	return r;
}
