/*
 * Two threads read one open file at once, each with records of its own, and find the same.
 */
#include <pthread.h>

#include "reader/lab.h"
#include "reader/made.h"

#define ROUNDS 20

static struct ringside_dat *file;
static pthread_barrier_t together;

/* A number for all that the records say. */
static uint64_t sum_up(void)
{
	struct ringside_dat_records *records = lab_read(file);
	const struct ringside_dat_record *record;
	uint64_t sum = 0;

	while (ringside_dat_records_next(records, &record) == 1) {
		const char *line = ringside_dat_record_line(record, RINGSIDE_DAT_KERNEL);

		sum += ringside_dat_record_time(record);
		for (; *line; line++)
			sum = sum * 31 + (unsigned char)*line;
	}
	ringside_dat_records_close(records);
	return sum;
}

/* From the first question on: formats and symbols are made when they are asked for. */
static void *work(void *arg)
{
	uint64_t *sum = arg;

	pthread_barrier_wait(&together);
	CHECK(ringside_dat_symbol(file, 0xffffffff81000104, NULL, NULL), "symbol");
	CHECK(ringside_dat_field_at(ringside_dat_event_at(file, 0), 0), "field");
	*sum = sum_up();
	return NULL;
}

static void once(const char *path)
{
	pthread_t threads[2];
	uint64_t sums[2];

	file = lab_open(path);
	CHECK(!pthread_barrier_init(&together, NULL, 2), "barrier");
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_create(&threads[i], NULL, work, &sums[i]), "thread");
	for (int i = 0; i < 2; i++)
		CHECK(!pthread_join(threads[i], NULL), "join");
	CHECK(sums[0] == sums[1] && sums[0] == sum_up(), "they differ");
	pthread_barrier_destroy(&together);
	ringside_dat_close(file);
}

int main(void)
{
	static struct made made;
	const char *path = lab_scratch("made.dat");

	for (int i = 0; i < 400; i++)
		made_record(&made, i % 2, 1000 + (uint64_t)i, i, 42, 0);
	made_write(&made, path);
	for (int i = 0; i < ROUNDS; i++)
		once(path);
	return 0;
}
