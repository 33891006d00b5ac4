/*
 * Pages that we hand out are the kernel's: libtraceevent, which stock tools read them with, sees the same events at the same
 * times as our own walker, and the same losses. Pages as they lie in the ring, and pages that were put together anew around
 * records from overflow rings.
 */
#include <stdio.h>
#if defined(__has_include) && __has_include(<traceevent/kbuffer.h>)
#define HAVE_KBUFFER 1
#endif

#ifdef HAVE_KBUFFER
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/kbuffer.h>

#include "capture/stream.h"
#include "decode/page.h"
#include "ring/lab.h"

static struct {
	struct kbuffer *(*alloc)(enum kbuffer_long_size size, enum kbuffer_endian endian);
	void (*free)(struct kbuffer *kbuf);
	int (*load)(struct kbuffer *kbuf, void *subbuffer);
	void *(*read)(struct kbuffer *kbuf, unsigned long long *ts);
	void *(*next)(struct kbuffer *kbuf, unsigned long long *ts);
	int (*size)(struct kbuffer *kbuf);
	int (*missed)(struct kbuffer *kbuf);
} kb;

static void find(void *library)
{
	kb.alloc = dlsym(library, "kbuffer_alloc");
	kb.free = dlsym(library, "kbuffer_free");
	kb.load = dlsym(library, "kbuffer_load_subbuffer");
	kb.read = dlsym(library, "kbuffer_read_event");
	kb.next = dlsym(library, "kbuffer_next_event");
	kb.size = dlsym(library, "kbuffer_event_size");
	kb.missed = dlsym(library, "kbuffer_missed_events");
	CHECK(kb.alloc && kb.free && kb.load && kb.read && kb.next && kb.size && kb.missed, "%s", dlerror());
}

static uint32_t sequence;
static uint64_t ts = 1000;

/* Records of every length; time in small steps and now and then in great ones. */
static void emit(struct lab *lab, int count, bool overflow)
{
	for (int i = 0; i < count; i++, sequence++) {
		unsigned char record[4096];
		uint32_t len = 8 + sequence * 13 % 40 * 4 + (sequence % 50 ? 0 : sequence * 7 % 3000 / 4 * 4);
		struct ring_op op;

		ts += sequence % 97 ? sequence % 5 : 1ull << (20 + sequence / 97 % 25);
		memset(record, (int)(sequence & 0xff), len);
		op = lab_op(lab, record, len);
		op.ts = ts;
		if (overflow && sequence % 3 == 0) {
			CHECK(ring_overflow_take(lab->slots, 1, 0, 1, NULL) == 0, "slot");
			CHECK(ring_twin_write(&lab->refs[1], &op, 0) == RING_DONE, "twin");
			ring_overflow_release(&lab->slots[0]);
		} else {
			CHECK(ring_write(lab_fake_rseq(), &op) == RING_DONE, "write");
		}
	}
}

/* One page, by both. */
static void compare(struct kbuffer *kbuf, void *page, const struct stream_page *info, uint64_t *events, uint64_t *lost)
{
	struct page_walk walk;
	struct page_event event;
	unsigned long long time;
	void *data;

	CHECK(!kb.load(kbuf, page) && !page_walk_init(&walk, page, 4096), "not a page");
	data = kb.read(kbuf, &time);
	if (info->lost)
		CHECK(kb.missed(kbuf) == (int)info->lost, "kbuffer says %d lost, not %llu", kb.missed(kbuf),
		      (unsigned long long)info->lost);
	else
		CHECK(!kb.missed(kbuf), "kbuffer says %d lost", kb.missed(kbuf));
	*lost += info->lost;
	for (; page_walk_next(&walk, &event) > 0; data = kb.next(kbuf, &time)) {
		CHECK(data == event.data, "kbuffer is elsewhere");
		CHECK(time == event.ts, "kbuffer says time %llu, we %llu", time, (unsigned long long)event.ts);
		CHECK(kb.size(kbuf) == (int)event.len, "kbuffer says %d bytes, we %u", kb.size(kbuf), event.len);
		(*events)++;
	}
	CHECK(!data, "kbuffer sees more events");
}

static void run(struct kbuffer *kbuf, bool overflow, bool lossy)
{
	struct state_buffer buffer = { .page_size = 4096 };
	struct err err = ERR_INIT;
	struct stream *stream;
	struct stream_page info;
	unsigned char page[4096] __attribute__((aligned(8)));
	uint64_t events = 0, lost = 0;
	struct lab lab;

	sequence = 0;
	lab_open(&lab, 1, 16, 4096, RING_REF_OVERWRITE);
	buffer.live = (struct state_set){ .offset = LAB_SET, .npages = 16, .page_size = 4096, .generation = 1 };
	CHECK(!stream_open(&stream, lab.fd, &buffer, 1, 0, true, &err), "%s", err.text);
	for (int i = 0; i < 200; i++) {
		emit(&lab, lossy ? 1500 : 150, overflow);
		while (stream_next(stream, page, &info) > 0)
			compare(kbuf, page, &info, &events, &lost);
	}
	CHECK(events + lost == sequence, "%llu + %llu of %u", (unsigned long long)events, (unsigned long long)lost, sequence);
	CHECK(!lost == !lossy, "%llu lost", (unsigned long long)lost);
	stream_close(stream);
	lab_close(&lab);
}

int main(void)
{
	void *library = dlopen("libtraceevent.so.1", RTLD_NOW);
	struct kbuffer *kbuf;

	if (!library) {
		printf("libtraceevent is not installed\n");
		return 77;
	}
	find(library);
	kbuf = kb.alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	run(kbuf, false, false);
	run(kbuf, false, true);
	run(kbuf, true, false);
	kb.free(kbuf);
	dlclose(library);
	return 0;
}
#else
int main(void)
{
	printf("libtraceevent's headers are not installed\n");
	return 77;
}
#endif
