/*
 * replay/run: parts walked by several threads, and put out in order.
 *
 * Each thread cuts a part off, makes its text, and leaves it in the ring of texts; whoever has left
 * the one that is next in turn puts out what is ready. A thread that is far ahead waits for room in
 * the ring, and a text that grows long is put out before it is whole: so memory is bounded.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/local.h"

#define THREADS_MAX 64
#define TEXT_MAX ((size_t)4 << 20)

struct slot {
	struct buf text;
	bool ready;
};

struct run {
	struct replay *replay;
	const struct replay_job *job;
	struct err *err;

	pthread_mutex_t feed;		/* of the replay's feed, and: */
	uint64_t cut;			/* parts so far */
	bool done;

	pthread_mutex_t lock;		/* of the rest */
	pthread_cond_t moved;
	struct slot *ring;
	size_t nr_slots;
	uint64_t next;			/* part to be put out */
	bool busy;			/* somebody is putting out */
	int ret;
};

static void stop(struct run *run, int r, const char *why)
{
	pthread_mutex_lock(&run->lock);
	if (!run->ret) {
		run->ret = r;
		err_set(run->err, r, "%s", why);
	}
	pthread_cond_broadcast(&run->moved);
	pthread_mutex_unlock(&run->lock);
}

static bool is_over(struct run *run)
{
	bool over;

	pthread_mutex_lock(&run->lock);
	over = run->ret;
	pthread_mutex_unlock(&run->lock);
	return over;
}

/* 1 and a part. */
static int take_part(struct run *run, struct replay_part *part)
{
	struct err why = ERR_INIT;
	int r = 0;

	pthread_mutex_lock(&run->feed);
	if (!run->done) {
		r = feed_cut(run->replay, run->job, part, &why);
		run->done = r <= 0;
		part->number = run->cut;
		run->cut += r == 1;
	}
	pthread_mutex_unlock(&run->feed);
	if (r < 0)
		stop(run, r, why.text);
	return r;
}

/* Puts a text out; called and left with the lock held, which others may have meanwhile. */
static void put_text(struct run *run, const struct buf *text)
{
	int r;

	run->busy = true;
	pthread_mutex_unlock(&run->lock);
	r = buf_failed(text) ? -ENOMEM :
	    text->len ? run->job->put(run->job->arg, text->data, text->len) : 0;
	pthread_mutex_lock(&run->lock);
	run->busy = false;
	if (r >= 0 || run->ret)
		return;
	run->ret = r;
	if (buf_failed(text))
		err_set(run->err, r, "out of memory");
}

/* Puts out what is next in turn, as long as it is ready; called and left with the lock held. */
static void put_ready(struct run *run)
{
	struct slot *slot;

	while (!run->busy && !run->ret && (slot = &run->ring[run->next % run->nr_slots])->ready) {
		put_text(run, &slot->text);
		slot->ready = false;
		run->next++;
		pthread_cond_broadcast(&run->moved);
	}
}

/* A text that has become long waits for its turn, and goes out before it is whole. */
static bool put_early(struct run *run, uint64_t number, struct buf *text)
{
	bool over;

	pthread_mutex_lock(&run->lock);
	while (!run->ret && run->next != number)
		pthread_cond_wait(&run->moved, &run->lock);
	if (!run->ret)
		put_text(run, text);
	over = run->ret;
	pthread_mutex_unlock(&run->lock);
	buf_reset(text);
	return !over;
}

/* Waits for the part's slot to be free; NULL: it is over. */
static struct slot *own_slot(struct run *run, uint64_t number)
{
	bool over;

	pthread_mutex_lock(&run->lock);
	while (!run->ret && number - run->next >= run->nr_slots)
		pthread_cond_wait(&run->moved, &run->lock);
	over = run->ret;
	pthread_mutex_unlock(&run->lock);
	return over ? NULL : &run->ring[number % run->nr_slots];
}

static void walk(struct run *run, struct replay_part *part, void *own, struct buf *text)
{
	struct replay_record rec;

	buf_reset(text);
	part_begin(part);
	while (part_next(part, &rec)) {
		run->job->record(run->job->arg, own, &rec, text);
		if (text->len > TEXT_MAX && !put_early(run, part->number, text))
			break;
	}
	part_drop_blocks(part);
}

static void *work(void *arg)
{
	struct run *run = arg;
	struct replay_part *part = part_new(run->replay);
	void *own = run->job->begin ? run->job->begin(run->job->arg) : NULL;
	struct slot *slot;

	if (!part || (run->job->begin && !own)) {
		stop(run, -ENOMEM, "out of memory");
	}
	while (!is_over(run) && take_part(run, part) == 1) {
		slot = own_slot(run, part->number);
		if (!slot)
			break;
		walk(run, part, own, &slot->text);
		pthread_mutex_lock(&run->lock);
		slot->ready = true;
		put_ready(run);
		pthread_mutex_unlock(&run->lock);
	}
	if (own && run->job->end)
		run->job->end(run->job->arg, own);
	part_free(part);
	return NULL;
}

int replay_run(struct replay *replay, const struct replay_job *job, unsigned int threads,
	       struct err *err)
{
	struct run run = { .replay = replay, .job = job, .err = err };
	pthread_t others[THREADS_MAX];
	unsigned int started = 0;

	if (threads > THREADS_MAX)
		threads = THREADS_MAX;
	run.nr_slots = threads > 1 ? threads * 2 : 1;
	run.ring = calloc(run.nr_slots, sizeof(*run.ring));
	if (!run.ring)
		return err_set(err, -ENOMEM, "out of memory");
	pthread_mutex_init(&run.feed, NULL);
	pthread_mutex_init(&run.lock, NULL);
	pthread_cond_init(&run.moved, NULL);
	/* Fewer threads than wanted do the same work. */
	while (started + 1 < threads && !pthread_create(&others[started], NULL, work, &run))
		started++;
	work(&run);
	for (unsigned int i = 0; i < started; i++)
		pthread_join(others[i], NULL);
	for (size_t i = 0; i < run.nr_slots; i++)
		buf_fini(&run.ring[i].text);
	free(run.ring);
	pthread_cond_destroy(&run.moved);
	pthread_mutex_destroy(&run.lock);
	pthread_mutex_destroy(&run.feed);
	return run.ret;
}
