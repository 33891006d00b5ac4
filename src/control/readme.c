/*
 * control/readme: the tree's README. Tools look in it for words that tell what works, so it is made from the table of
 * files that there are.
 */
#include "control/table.h"

#define COLUMN 36

/* A pattern as people write it: events/<system>/<event>/format. */
static size_t put_path(struct buf *out, const char *path)
{
	size_t start = out->len;
	int star = 0;

	for (; *path; path++) {
		if (*path == '*')
			buf_puts(out, star++ ? "<event>" : "<system>");
		else if (*path == '#')
			buf_puts(out, "<N>");
		else if (*path == '@')
			buf_puts(out, "<option>");
		else
			buf_putc(out, *path);
	}
	return out->len - start;
}

int node_readme_read(struct node_request *request, struct err *err)
{
	struct buf *out = &request->out;
	const struct node *node;

	(void)err;
	buf_puts(out, "Tracing by files:\n\n"
		      "  echo 1 > events/enable; cat trace_pipe\n\n");
	for (uint32_t i = 0; (node = node_at(i)); i++) {
		size_t width = put_path(out, node->path);

		buf_printf(out, "%*s%s\n", width < COLUMN ? (int)(COLUMN - width) : 1, "", node->what);
	}
	buf_puts(out, "instances/<name>                    mkdir makes a buffer of its own, with a tree "
		      "like this one; rmdir removes it\n");
	return 0;
}
