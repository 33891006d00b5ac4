/*
 * Whatever is in a text or a record: no text costs more than its limits allow, and no record is
 * read outside its bytes. Records lie in memory of their own, so that sanitizers see it.
 */
#include "world.h"

/* `n` times `piece`, between a head and a tail. */
static char *repeat(const char *head, const char *piece, size_t n, const char *tail)
{
	struct buf text = BUF_INIT;

	buf_puts(&text, head);
	while (n--)
		buf_puts(&text, piece);
	buf_puts(&text, tail);
	return buf_take(&text);
}

static int add(char *text)
{
	struct err err = ERR_INIT;
	struct filter *filter;
	int ret;

	if (filter_new(&filter, 0))
		exit(1);
	ret = filter_add(filter, text, &world, &err);
	check(!ret || err.text[0]);
	filter_free(filter);
	free(text);
	return ret;
}

static void depth(void)
{
	check(!add(repeat("sample: ", "(", 60, "u8 == 1))))))))))))))))))))))))))))))"
			  "))))))))))))))))))))))))))))))")));
	check(add(repeat("sample: ", "(", 30000, "")) == -EBADMSG);
	check(add(repeat("sample: ", "!", 30000, "u8 == 1")) == -EBADMSG);
	check(add(repeat("sample: ", "-", 30000, "u8 == 1")) == -EBADMSG);
	check(add(repeat("sample: ", "~(-", 20000, "u8")) == -EBADMSG);
	check(add(repeat("sample: u8", " + u8", 60, " == 1")) == 0);
	check(add(repeat("sample: u8", " + u8", 10000, " == 1")) == -EBADMSG);
}

static void size(void)
{
	/* Long lists of pids are what programs make. */
	check(!add(repeat("sample: u8 == 1", " || u8 == 1", 1000, "")));
	check(add(repeat("sample: u8 == 1", " || u8 == 1", 2000, "")) == -EBADMSG);
	check(add(repeat("sample: u8 == 1", " ", 1 << 17, "")) == -E2BIG);
	check(add(repeat("sample: name == \"", "a", 60000, "\"")) == 0);
	check(add(repeat("sample: name =~ \"", "a", 60000, "\"")) == -EBADMSG);
	check(add(repeat("irq", ",irq", 1000, "")) == 0);
	check(add(repeat("irq", ",irq", 10000, "")) == -E2BIG);
	check(add(repeat("", "i", 60000, "")) == -EBADMSG);
	check(add(repeat("nothing", " nothing", 20, "")) == -ENOENT);
}

/* One event, many times. */
static void many_name(void *arg, size_t i, const char **system, const char **name)
{
	(void)i;
	world_name(arg, 1, system, name);
}

static const struct decode_format *many_format(void *arg, size_t i)
{
	(void)i;
	return world_format(arg, 1);
}

static void programs(void)
{
	const struct filter_world many = { .nr = 2000, .name = many_name, .format = many_format };
	char *text = repeat("sched: a == 1", " || a == 1", 300, "");
	struct err err = ERR_INIT;
	struct filter *filter;
	int ret = 0, n = 0;

	if (filter_new(&filter, 0))
		exit(1);
	check(!filter_add(filter, "sched: a == 1", &many, &err));
	while (!ret && n++ < 1000)
		ret = filter_add(filter, text, &many, &err);
	check(ret == -E2BIG && n < 3);
	filter_free(filter);
	free(text);
}

static const char *const exprs[] = {
	"u8 == 200 || s64 == 1 || common_pid == 1",
	"u64 == \"schedule\" || u64 =~ \"x\" || f > 1 || d < 1",
	"name == \"shop\" || text == \"tea\" || mask =~ \"x\" || nums ~ \"x*\" || arr != mac",
	"COMM == \"x\" || COMM =~ \"y$\" || CPU & 1 || TIMESTAMP / 7 == 3",
};

static void run_all(struct filter *const *filters, const struct sample *rec, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		exit(1);
	memcpy(copy, rec, len);
	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++)
		check(verdict_of(filters[i], 0, copy, len) != FILTER_NONE);
	free(copy);
}

/* Cut at each byte, and with locations that lead anywhere. */
static void records(void)
{
	struct filter *filters[sizeof(exprs) / sizeof(exprs[0])];
	struct sample rec = sample_record();
	char text[256];
	struct err err;

	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++) {
		snprintf(text, sizeof(text), "sample: %s", exprs[i]);
		filters[i] = filter_of(text, 0, &err);
		check(filters[i]);
	}
	for (size_t len = 0; len <= sizeof(rec); len++)
		run_all(filters, &rec, len);
	for (uint32_t word = 1; word; word = word << 1 & UINT32_MAX) {
		rec.text = word;
		rec.mask = ~word;
		rec.nums = word | 0xfff0000;
		memset(rec.name, 'x', sizeof(rec.name));
		run_all(filters, &rec, sizeof(rec));
	}
	for (size_t i = 0; i < sizeof(exprs) / sizeof(exprs[0]); i++)
		filter_free(filters[i]);
}

/* What a record is too short for is 0, or no text. */
static void missing(void)
{
	struct sample rec = sample_record();
	struct err err;
	struct filter *filter = filter_of("sample: u8 == 0 && name == \"\" && d == 0", 0, &err);

	check(verdict_of(filter, 0, &rec, 8) == FILTER_MATCH);
	check(verdict_of(filter, 0, &rec, sizeof(rec)) == FILTER_MISS);
	filter_free(filter);
}

int main(void)
{
	depth();
	size();
	programs();
	records();
	missing();
	world_fini();
	return failures ? 1 : 0;
}
