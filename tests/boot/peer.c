/*
 * The kernel's own reader of bootconfig, compiled from its source, beside ours, in one process: what one takes the other takes, and reads the
 * same; what one refuses the other refuses at the same byte. Cases are put together by chance, of pieces that mean something, and
 * out of files that are named, with pieces taken out and put in. Built and run by kernel.sh: peer SEED COUNT FILE...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/bootconfig.h>

#include "boot/config.h"

static uint64_t chance = 88172645463325252ull;

static unsigned int any(unsigned int below)
{
	chance ^= chance << 13;
	chance ^= chance >> 7;
	chance ^= chance << 17;
	return (unsigned int)(chance % below);
}

static const char *const pieces[] = {
	"a", "b", "c-d", "_", "0", ".", "=", ":=", "+=", "{", "}", ";", "\n", "#", ",", " ", "\t", "\v", "\r", "\"", "'", "+", ":", "\\",
	"\001", "\377", "a.b", "a = 1\n", "b {\n", "}\n", "a = b, c\n", "a += d\n", "a := e\n", "\"x y\"", "'z\"'", "# note\n",
};

/* As the kernel reads it: every value with its key, or the place where it stops. */
static void read_peer(const char *text, struct buf *out)
{
	struct xbc_node *leaf, *value;
	const char *words, *first;
	char key[XBC_KEYLEN_MAX];
	int pos, r;

	r = xbc_init(text, strlen(text) + 1, &words, &pos);
	if (r < 0) {
		buf_printf(out, "refused at %d\n", pos);
		return;
	}
	buf_printf(out, "%d nodes\n", r);
	xbc_for_each_key_value(leaf, first) {
		r = xbc_node_compose_key(leaf, key, sizeof(key));
		buf_printf(out, "%s =", r < 0 ? "?" : key);
		value = xbc_node_get_child(leaf);
		if (value)
			xbc_array_for_each_value(value, first)
				buf_printf(out, " <%s>", first);
		buf_putc(out, '\n');
	}
	xbc_exit();
}

static void put_ours(const struct boot_node *node, struct buf *out)
{
	unsigned int words = 0;

	if (node->parent && (node->value || !node->child)) {
		for (const struct boot_node *up = node; up->parent; up = up->parent)
			words++;
		/* It cannot say a key of so many words, though it takes one. */
		if (words == BOOT_DEPTH_MAX)
			buf_puts(out, "?");
		else
			boot_key(node, out);
		buf_puts(out, " =");
		for (const struct boot_node *value = node->value; value; value = value->next)
			buf_printf(out, " <%s>", value->text);
		buf_putc(out, '\n');
	}
	for (const struct boot_node *child = node->child; child; child = child->next)
		put_ours(child, out);
}

static void read_ours(const char *text, struct buf *out)
{
	struct boot_config *config;
	struct err err = ERR_INIT;

	if (boot_config_parse(&config, text, strlen(text), true, &err)) {
		buf_printf(out, "refused at %d\n", err.pos);
		return;
	}
	buf_printf(out, "%u nodes\n", config->nodes);
	put_ours(&config->root, out);
	boot_config_free(config);
}

static void compare(const char *text)
{
	struct buf peer = BUF_INIT, ours = BUF_INIT;

	/* Of nothing at all it has no place. */
	if (!*text)
		return;
	read_peer(text, &peer);
	read_ours(text, &ours);
	if (strcmp(peer.data, ours.data)) {
		printf("FAIL: of this\n---\n%s\n--- the kernel says\n%s--- and we say\n%s", text, peer.data, ours.data);
		exit(1);
	}
	buf_fini(&peer);
	buf_fini(&ours);
}

static void put_piece(struct buf *out)
{
	buf_puts(out, pieces[any(sizeof(pieces) / sizeof(pieces[0]))]);
}

static void compare_made(void)
{
	struct buf text = BUF_INIT;

	for (unsigned int n = 1 + any(30); n; n--)
		put_piece(&text);
	if (any(3))
		buf_putc(&text, '\n');
	compare(text.data);
	buf_fini(&text);
}

static void compare_changed(const char *from)
{
	unsigned int at, n, len = (unsigned int)strlen(from);
	struct buf text = BUF_INIT;

	buf_puts(&text, "");
	for (unsigned int i = 0; i < len; i++) {
		at = any(len);
		n = any(6);
		if (at < 3 && n)
			put_piece(&text);
		else if (at < 5)
			continue;
		buf_putc(&text, from[i]);
	}
	compare(text.data);
	buf_fini(&text);
}

/* Up to where the kernel takes something, and one more. */
static void compare_limits(void)
{
	static const unsigned int edges[] = { 15, 16, 17, 254, 255, 256, 8188, 8189, 8190, 8191, 8192, 32762, 32763, 32764, 32765, 32766 };

	for (size_t e = 0; e < sizeof(edges) / sizeof(edges[0]); e++) {
		struct buf text[4] = { BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT };

		for (unsigned int i = 0; i < edges[e]; i++) {
			buf_puts(&text[0], i ? edges[e] > 9000 ? "w" : ".w" : "w");
			buf_puts(&text[1], "w{");
			buf_puts(&text[2], i ? "," : "a=");
			buf_puts(&text[3], i ? "x" : "a=");
		}
		for (unsigned int i = 0; i < edges[e]; i++)
			buf_puts(&text[1], "}");
		for (int i = 0; i < 4; i++) {
			buf_putc(&text[i], '\n');
			if (text[i].len <= BOOT_SIZE_MAX)
				compare(text[i].data);
			buf_fini(&text[i]);
		}
	}
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = calloc(1, 65536);

	if (!file || !text || !fread(text, 1, 65535, file)) {
		printf("FAIL: %s cannot be read\n", path);
		exit(1);
	}
	fclose(file);
	return text;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;

	chance ^= argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	compare_limits();
	for (int i = 3; i < argc; i++) {
		char *text = read_file(argv[i]);

		compare(text);
		for (unsigned long n = 0; n < count / 20; n++)
			compare_changed(text);
		free(text);
	}
	for (unsigned long n = 0; n < count; n++)
		compare_made();
	printf("%lu cases and more\n", count);
	return 0;
}
