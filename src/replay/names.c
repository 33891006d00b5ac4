/*
 * replay/names: what a trace tells of tasks that the file has no name for. The first name of a task
 * stands, from the record on that told it.
 *
 * Parts are walked by several threads, but names are learned while parts are cut, by one at a time
 * and CPU by CPU. So a name has the place of its record, and whoever asks has a place, too: later
 * names are not seen. Entries are never changed once others can see them.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/local.h"

static bool earlier(uint64_t key, uint32_t order, uint64_t seq, const struct learned *b)
{
	if (key != b->key)
		return key < b->key;
	if (order != b->order)
		return order < b->order;
	return seq < b->seq;
}

/* Which PIDs share a bucket nobody can tell who writes a file. */
static size_t bucket(const struct file *file, int pid)
{
	return ((uint64_t)(unsigned int)pid * file->salt >> 32) % LEARNED_BUCKETS;
}

static struct learned *find(struct file *file, int pid)
{
	struct learned *l = atomic_load_explicit(&file->learned[bucket(file, pid)],
						 memory_order_acquire);

	while (l && l->pid != pid)
		l = l->next;
	return l;
}

void replay_learn(const struct replay_record *rec, int pid, const char *comm, size_t len)
{
	const struct cursor *c = rec->cursor;
	struct file *file = c->lane->file;
	struct learned *l;

	if (!pid || file->nr_learned == LEARNED_MAX || dat_comm(file->dat, pid) || find(file, pid))
		return;
	for (l = file->beside[bucket(file, pid)]; l && l->pid != pid; l = l->beside)
		;
	if (l && !earlier(c->key, c->lane->order, c->seq, l))
		return;
	if (!l) {
		l = calloc(1, sizeof(*l));
		if (!l)
			return;
		l->next = file->pending;
		file->pending = l;
		l->beside = file->beside[bucket(file, pid)];
		file->beside[bucket(file, pid)] = l;
		file->nr_learned++;
	}
	l->pid = pid;
	l->key = c->key;
	l->order = c->lane->order;
	l->seq = c->seq;
	if (len >= sizeof(l->comm))
		len = sizeof(l->comm) - 1;
	memcpy(l->comm, comm, len);
	l->comm[len] = '\0';
}

void names_settle(struct file *file)
{
	struct learned *l, *next;

	for (l = file->pending; l; l = next) {
		_Atomic(struct learned *) *head = &file->learned[bucket(file, l->pid)];

		next = l->next;
		file->beside[bucket(file, l->pid)] = NULL;
		l->next = atomic_load_explicit(head, memory_order_relaxed);
		atomic_store_explicit(head, l, memory_order_release);
		atomic_fetch_add_explicit(&file->nr_settled, 1, memory_order_release);
	}
	file->pending = NULL;
}

const char *replay_comm(const struct replay_record *rec, int pid)
{
	const struct cursor *c = rec->cursor;
	const char *known = dat_comm(c->lane->file->dat, pid);
	const struct learned *l;

	if (known)
		return known;
	l = find(c->lane->file, pid);
	return l && !earlier(c->key, c->lane->order, c->seq, l) &&
			       !(l->order == c->lane->order && l->seq == c->seq) ?
		       l->comm : NULL;
}

uint32_t replay_names_seen(const struct replay_record *rec)
{
	const struct cursor *c = rec->cursor;

	return atomic_load_explicit(&c->lane->file->nr_settled, memory_order_acquire);
}

bool replay_unnamed(const struct replay_record *rec, int pid, uint32_t *seen)
{
	const struct cursor *c = rec->cursor;

	/* Counted first: a name that comes meanwhile makes the count another one. */
	*seen = replay_names_seen(rec);
	return !dat_comm(c->lane->file->dat, pid) && !find(c->lane->file, pid);
}

void names_free(struct file *file)
{
	struct learned *l, *next;

	names_settle(file);
	for (size_t i = 0; i < LEARNED_BUCKETS; i++) {
		for (l = atomic_load(&file->learned[i]); l; l = next) {
			next = l->next;
			free(l);
		}
		atomic_store(&file->learned[i], NULL);
	}
	file->nr_learned = 0;
}
