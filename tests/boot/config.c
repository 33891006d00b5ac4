/*
 * Bootconfig: what a text says, and where it is refused. tests/boot/kernel.sh has the kernel's word on the same; these are cases that
 * a person can read.
 */
#include "insist.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "boot/config.h"
#include "boot/initrd.h"

static const struct good {
	const char *text;
	const char *list;
	const char *tree;
} good[] = {
	{ "a = 1\n", "a = \"1\"\n", "a = \"1\";\n" },
	{ "a.b.c\n", "a.b.c = \"\"\n", "a.b.c;\n" },
	{ "a.b = 1; a.c = 2, 3\n", "a.b = \"1\"\na.c = \"2\", \"3\"\n", "a {\n\tb = \"1\";\n\tc = \"2\", \"3\";\n}\n" },
	{ "a { b = 1; c.d }", "a.b = \"1\"\na.c.d = \"\"\n", "a {\n\tb = \"1\";\n\tc.d;\n}\n" },
	/* A value comes before the keys below it, wherever it stands. */
	{ "a.b = 1\na = 2\n", "a = \"2\"\na.b = \"1\"\n", "a = \"2\";\na.b = \"1\";\n" },
	{ "a.b.c = 1\na.b = 2\n", "a.b = \"2\"\na.b.c = \"1\"\n", "a {\n\tb = \"2\";\n\tb.c = \"1\";\n}\n" },
	{ "a = 1, 2\na += 3\na := 4, 5\n", "a = \"4\", \"5\"\n", "a = \"4\", \"5\";\n" },
	{ "a = 1 # one\n# all\nb = 2, # first\n 3\n", "a = \"1\"\nb = \"2\", \"3\"\n", "a = \"1\";\nb = \"2\", \"3\";\n" },
	{ "a = 'x \"y\"', \"it's\", p;q\n", "a = 'x \"y\"', \"it's\", \"p\"\nq = \"\"\n", NULL },
	{ "a = \" b \"  ; c =  d e \n", "a = \" b \"\nc = \"d e\"\n", NULL },
	{ "a =\n# not yet\n\nb\n", "a = \"b\"\n", NULL },
	{ "a =; b = ,\n", "a = \"\"\nb = \"\", \"\"\n", NULL },
	{ "a {};;b{c}}", NULL, NULL },
	{ "a\na.b\na { b }\n", "a.b = \"\"\n", "a.b;\n" },
	{ "\v a\t{\r\nb\f}\n", "a.b = \"\"\n", NULL },
	{ "a = b{c\n", "a = \"b{c\"\n", NULL },
};

static const struct bad {
	const char *text;
	int pos;
} bad[] = {
	{ "", 0 }, { "# nothing\n", 0 }, { "\n;\n", 0 },
	{ "a = 1\nb", 6 }, { "a b\n", 0 }, { "a.b,c\n", 2 }, { " a..b = 1\n", 3 }, { ".a\n", 0 }, { "a .b\n", 0 },
	{ "a = 1\na = 2\n", 10 }, { "a : b\n", 2 }, { "a + = b\n", 2 }, { "= 1\n", 0 }, { "{ a }\n", 0 },
	{ "a = \"b\n", 7 }, { "a = \"b\" c\n", 8 }, { "a = \"b\001\"\n", 6 }, { "a = b\377\n", 5 }, { "a = b # c\n, d\n", 10 },
	{ "a {\n", 0 }, { "a.b { c {\n}\n", 2 }, { "a }\n", 2 }, { "a = b }\n", 6 }, { "a { b = c } }\n", 12 },
	{ "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17\n", 39 },
	{ "1.2.3.4.5.6.7.8.9.10.11.12.13.14.15.16.17\n}\n", 42 },
};

static void check_good(const struct good *test)
{
	struct buf list = BUF_INIT, tree = BUF_INIT;
	struct boot_config *config = NULL;
	struct err err = ERR_INIT;
	int r = boot_config_parse(&config, test->text, strlen(test->text), true, &err);

	if (!test->list) {
		CHECK(r, "'%s' is taken", test->text);
		return;
	}
	CHECK(!r, "'%s': %s", test->text, err.text);
	boot_config_list(config, &list);
	boot_config_show(config, &tree);
	CHECK(!strcmp(list.data, test->list), "'%s' is listed as\n%s", test->text, list.data);
	CHECK(!test->tree || !strcmp(tree.data, test->tree), "'%s' is shown as\n%s", test->text, tree.data);
	boot_config_free(config);
	buf_fini(&list);
	buf_fini(&tree);
}

static void check_bad(const struct bad *test)
{
	struct boot_config *config = NULL;
	struct err err = ERR_INIT;

	CHECK(boot_config_parse(&config, test->text, strlen(test->text), true, &err), "'%s' is taken", test->text);
	CHECK(err.pos == test->pos, "'%s' is refused at %d: %s", test->text, err.pos, err.text);
	CHECK(err.text[0], "'%s' is refused without a word", test->text);
}

/* Places, as people count them, and nodes with their bounds. */
static void check_rest(void)
{
	static const char text[] = "a = 1\n\tb.c = 2\n";
	const struct boot_node *node;
	struct boot_config *config;
	unsigned int line, column;
	struct buf many = BUF_INIT;
	struct err err = ERR_INIT;

	CHECK(!boot_config_parse(&config, text, sizeof(text) - 1, true, &err), "%s", err.text);
	node = boot_find(boot_find(&config->root, "b"), "c");
	CHECK(node && !strcmp(node->value->text, "2") && !boot_find(node, "d") && config->nodes == 5, "no b.c");
	boot_config_place(config, node->pos, &line, &column);
	CHECK(line == 2 && column == 4, "b.c is at %u:%u", line, column);
	boot_config_free(config);

	/* It ends with its length, or a NUL. */
	CHECK(!boot_config_parse(&config, "a;b\0;c\n", 2, true, &err) && !config->root.child->next, "more than its length");
	boot_config_free(config);

	for (unsigned int i = 0; i < BOOT_NODES_MAX; i++)
		buf_puts(&many, i ? "," : "a=");
	buf_putc(&many, '\n');
	CHECK(boot_config_parse(&config, many.data, many.len, true, &err), "more than the kernel's nodes");
	CHECK(!boot_config_parse(&config, many.data, many.len, false, NULL), "no more than the kernel's nodes");
	boot_config_free(config);
	buf_reset(&many);
	buf_puts(&many, "a=");
	while (many.len <= BOOT_SIZE_MAX)
		buf_putc(&many, 'x');
	CHECK(boot_config_parse(&config, many.data, many.len, true, &err), "more than the kernel's bytes");
	CHECK(!boot_config_parse(&config, many.data, many.len, false, NULL), "no more than the kernel's bytes");
	boot_config_free(config);
	buf_fini(&many);
}

/* What stands behind an image: damaged in each of its bytes it is told to be so, or nothing, and the image stays as it is. */
static void check_damaged(void)
{
	static const char image[] = "an image of 21 bytes", text[] = "key = value\n";
	int fd = memfd_create("initrd", 0);
	struct buf found = BUF_INIT;
	struct err err = ERR_INIT;
	off_t size;
	int r;

	CHECK(fd >= 0 && write(fd, image, sizeof(image)) == sizeof(image), "no image");
	CHECK(!boot_initrd_write(fd, text, sizeof(text) - 1, &err), "%s", err.text);
	CHECK(lseek(fd, 0, SEEK_END) == 56, "%ld bytes", (long)lseek(fd, 0, SEEK_END));
	CHECK(boot_initrd_read(fd, &found, &size, &err) == 1 && !strcmp(found.data, text) && size == sizeof(image), "not read");
	for (off_t at = sizeof(image); at < 56; at++) {
		unsigned char byte, other;

		CHECK(pread(fd, &byte, 1, at) == 1, "no byte");
		other = byte ^ 0x40;
		CHECK(pwrite(fd, &other, 1, at) == 1, "no byte");
		buf_reset(&found);
		err = (struct err)ERR_INIT;
		r = boot_initrd_read(fd, &found, &size, &err);
		/* Without its last words it is none. */
		CHECK(at >= 44 ? !r : r == -EINVAL && err.text[0], "byte %ld: %d", (long)at, r);
		if (at < 44)
			CHECK(boot_initrd_write(fd, text, 3, NULL) == -EINVAL && boot_initrd_write(fd, NULL, 0, NULL) == -EINVAL,
			      "something damaged is written over");
		CHECK(pwrite(fd, &byte, 1, at) == 1, "no byte");
	}
	CHECK(!boot_initrd_write(fd, NULL, 0, &err) && lseek(fd, 0, SEEK_END) == sizeof(image), "not removed");
	buf_fini(&found);
	close(fd);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		check_good(&good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		check_bad(&bad[i]);
	check_rest();
	check_damaged();
	return 0;
}
