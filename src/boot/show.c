/*
 * boot/show: see config.h. A tree as text again, as the kernel and its tool show one.
 */
#include <string.h>

#include "boot/config.h"

void boot_key(const struct boot_node *node, struct buf *out)
{
	if (!node->parent)
		return;
	boot_key(node->parent, out);
	buf_printf(out, "%s%s", node->parent->parent ? "." : "", node->text);
}

/* In quotes that it does not hold; one that holds both cannot be told, and the kernel does not try. */
static void put_values(const struct boot_node *value, struct buf *out)
{
	for (; value; value = value->next) {
		char quote = strchr(value->text, '"') ? '\'' : '"';

		buf_printf(out, "%c%s%c%s", quote, value->text, quote, value->next ? ", " : "");
	}
}

static void list(const struct boot_node *node, struct buf *out)
{
	if (node->parent && (node->value || !node->child)) {
		boot_key(node, out);
		buf_puts(out, " = ");
		if (!node->value)
			buf_puts(out, "\"\"");
		put_values(node->value, out);
		buf_putc(out, '\n');
	}
	for (const struct boot_node *child = node->child; child; child = child->next)
		list(child, out);
}

void boot_config_list(const struct boot_config *config, struct buf *out)
{
	list(&config->root, out);
}

static void indent(uint32_t depth, struct buf *out)
{
	while (depth--)
		buf_putc(out, '\t');
}

/* The words from below `from` to `node`, which are one on the line. */
static void put_path(const struct boot_node *from, const struct boot_node *node, struct buf *out)
{
	if (node->parent != from) {
		put_path(from, node->parent, out);
		buf_putc(out, '.');
	}
	buf_puts(out, node->text);
}

/* `from`: what the words on the line are below. */
static void show(const struct boot_node *from, const struct boot_node *node, uint32_t depth, struct buf *out)
{
	const struct boot_node *child = node->child;

	if (node->value || !child) {
		indent(depth, out);
		put_path(from, node, out);
		if (node->value)
			buf_puts(out, " = ");
		put_values(node->value, out);
		buf_puts(out, ";\n");
	}
	if (!child)
		return;
	/* One below it stands on its line, if that is one line. */
	if (!child->next && !(child->value && child->child)) {
		show(from, child, depth, out);
		return;
	}
	indent(depth, out);
	put_path(from, node, out);
	buf_puts(out, " {\n");
	for (; child; child = child->next)
		show(node, child, depth + 1, out);
	indent(depth, out);
	buf_puts(out, "}\n");
}

void boot_config_show(const struct boot_config *config, struct buf *out)
{
	for (const struct boot_node *child = config->root.child; child; child = child->next)
		show(&config->root, child, 0, out);
}
