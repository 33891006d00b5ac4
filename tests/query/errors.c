/*
 * What is wrong with a statement is said at its place; and whatever a statement is, cut or changed anywhere, it is
 * translated or refused with words.
 */
#include <stdlib.h>

#include "query/world.h"

static const struct {
	const char *sql;
	int pos;
	const char *words;
} wrong[] = {
	{ "", 0, "SELECT is missing" },
	{ "id from pay", 0, "SELECT is expected, not 'id'" },
	{ "select id from", 14, "an event is missing" },
	{ "select from pay", 7, "a field is expected" },
	{ "select id,, cents from pay", 10, "a field is expected, not ','" },
	{ "select id cents pay", 16, "FROM is expected" },
	{ "select id from pay where", 24, "a field is missing" },
	{ "select id from pay where id", 27, "a comparison is missing" },
	{ "select id from pay where id == 3)", 32, "an end is expected, not ')'" },
	{ "select id from pay where (id == 3", 33, "')' is missing" },
	{ "select id from pay where how == \"a", 32, "no closing quote" },
	{ "select id from pay where id == 99999999999999999999", 31, "more than 64 bits" },
	{ "select id from pay where id ? 3", 28, "means nothing" },
	{ "select id from shop:order", 19, "SYSTEM.EVENT" },
	{ "select id, sum(cents) from pay", 11, "no function 'sum'" },
	{ "select id from pay group by id", 19, "no GROUP BY" },
	{ "select id from nosuch", 15, "there is no event 'nosuch'" },
	{ "select id from order", 15, "shop.order and bakery.order" },
	{ "select nosuch from pay", 7, "no field 'nosuch'" },
	{ "select id, CAST(how AS hex) from pay", 16, "only numbers" },
	{ "select CAST(id AS nosuch) from pay", 18, "no type 'nosuch'" },
	{ "select CAST(id AS buckets=0) from pay", 18, "no type" },
	{ "select how + 3 from pay", 7, "no number to calculate with" },
	{ "select id, id from pay", 11, "selected twice" },
	{ "select id from pay order by cents", 28, "not selected" },
	{ "select o.id from shop.order o join pay p on o.id = o.cents", 44, "a field of either event" },
	{ "select o.id from shop.order o join pay p on o.id = p.how", 44, "not of one kind" },
	{ "select o.id, p.id from shop.order o join pay p on o.id = p.id", 13, "two fields would be called 'id'" },
	{ "select o.id + p.id from shop.order o join pay p on o.id = p.id", 12, "needs a name" },
	{ "select cents from shop.order o join pay p on o.id = p.id", 7, "in both events" },
	{ "select o.id from shop.order o join pay p on o.id = p.id where o.id == 1 || p.id == 2", 72, "joined by &&" },
	{ "select o.id from shop.order o join pay p on o.id = p.id order by id", 65, "no order but time" },
	{ "select id from pay; select nosuch from pay", 27, "no field 'nosuch'" },
};

static void refusals(void)
{
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sql_lines lines;
		struct err err = ERR_INIT;
		struct buf out = BUF_INIT;
		int r = sql_translate(&lines, &world, wrong[i].sql, NULL, &err);

		CHECK(r < 0 && err.code == r, "%s: %d", wrong[i].sql, r);
		CHECK(strstr(err.text, wrong[i].words), "%s: %s", wrong[i].sql, err.text);
		CHECK(err.pos == wrong[i].pos, "%s: at %d: %s", wrong[i].sql, err.pos, err.text);
		CHECK(!lines.n && !lines.line, "lines are left");
		sql_error_show(wrong[i].sql, &err, &out);
		CHECK(out.data[strlen(wrong[i].sql) + 1 + (size_t)wrong[i].pos] == '^', "%s", out.data);
		buf_fini(&out);
	}
}

static void names(void)
{
	static const char join[] = "select o.id as n from shop.order o join pay p on o.id = p.id";
	const struct sql_options bad[] = {
		{ .name = "" }, { .max = "n", .change = "n" }, { .snapshot = true }, { .save = "how" },
		{ .max = "nosuch", .snapshot = true }, { .max = "n", .save = "nosuch" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct sql_lines lines;
		struct err err = ERR_INIT;

		CHECK(sql_translate(&lines, &world, join, &bad[i], &err) < 0 && *err.text, "options %zu", i);
		CHECK(err.pos == -1, "options have no place: %d", err.pos);
	}
}

static void try(const char *sql)
{
	struct sql_lines lines;
	struct err err = ERR_INIT;
	struct buf out = BUF_INIT;
	int r = sql_translate(&lines, &world, sql, &(struct sql_options){ .name = "a,b,c" }, &err);

	CHECK(r ? *err.text && err.pos <= (int)strlen(sql) : lines.n > 0, "%s: %d %s at %d", sql, r, err.text, err.pos);
	sql_error_show(sql, &err, &out);
	for (size_t i = 0; !r && i < lines.n; i++)
		sql_line_show(&lines.line[i], "", &out);
	buf_fini(&out);
	sql_lines_fini(&lines);
}

/* Every piece of it, and with every letter another. */
static void change(const char *sql)
{
	static const char letters[] = "().,;*'\"\\&|!=<>~ 0aZ_+-/";
	size_t len = strlen(sql);
	char *text = malloc(len + 1);

	CHECK(text, "memory");
	for (size_t i = 0; i <= len; i++) {
		memcpy(text, sql, len + 1);
		text[i] = '\0';
		try(text);
		try(sql + i);
		for (size_t k = 0; i < len && k < sizeof(letters) - 1; k++) {
			memcpy(text, sql, len + 1);
			text[i] = letters[k];
			try(text);
		}
	}
	free(text);
}

int main(void)
{
	char deep[4096] = "select id from pay where ";

	world_open();
	refusals();
	names();
	change("select CAST(CAST(o.cents as hex) as _COUNTER_), id, COUNT(*) from shop.order as o where (o.id == -3 || who ~ \"a*\")"
	       " && !(kind & 0x4) order by COUNT(*) desc, id;");
	change("select start.id, (end.cents * (3 - start.cents)) as x, end.how h, TIMESTAMP_DELTA as d from shop.order as start"
	       " join pay as end on start.id = end.id, start.common_pid = end.common_pid where end.how != 'x' and start.id > 3;"
	       " select CAST(x as buckets=10) from a");
	memset(deep + strlen(deep), '(', sizeof(deep) - strlen(deep) - 1);
	try(deep);
	memset(deep + 7, '(', sizeof(deep) - 8);
	try(deep);
	world_close();
	return 0;
}
