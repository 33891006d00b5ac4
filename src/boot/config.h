/*
 * boot/config: the kernel's bootconfig: text in, a tree of keys with values out, and the other way round.
 *
 *	ftrace.event.sched { enable; sched_switch.filter = "prev_pid == 0" }	# words, joined by dots or nested in braces
 *	key = 1, 2	a list	key += 3	more of it	key := 4	another instead	key.word = 5	beside that, keys below it
 *
 * What is refused is refused where the kernel refuses it: `pos` of the error is the byte. No thread but one.
 */
#ifndef BOOT_CONFIG_H
#define BOOT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define BOOT_NODES_MAX 8192u	/* words and values, those that were replaced included */
#define BOOT_SIZE_MAX 32766u	/* bytes of a text */
#define BOOT_DEPTH_MAX 16u	/* words of a key, and braces in each other */
#define BOOT_KEY_MAX 255u	/* bytes of a key with its dots */

/* A word of a key, or a value. */
struct boot_node {
	const char *text;
	size_t len;			/* of it: a value may be empty */
	uint32_t pos;			/* byte of the text at which it stood first */
	bool is_value;
	struct boot_node *parent;	/* NULL: the root, which has no word */
	struct boot_node *next;		/* the next word below its parent, or value of its key */
	struct boot_node *child;	/* words below it, in the order of the text */
	struct boot_node *value;	/* NULL: none, which is not the same as an empty one */
	struct boot_node *last_child, *last_value;
	struct boot_node *made;		/* the one that was made before it */
};

struct boot_config {
	struct boot_node root;
	struct boot_node *made;
	uint32_t nodes;		/* as the kernel counts them */
	char *text;		/* as it was, for places */
	char *cut;		/* the same, cut into words and values */
};

/*
 * The text ends at `len` or at a NUL. `bounded`: with no more nodes and bytes than the kernel takes; depth and length of keys
 * are bounded anyway.
 */
int boot_config_parse(struct boot_config **out, const char *text, size_t len, bool bounded, struct err *err);
void boot_config_free(struct boot_config *config);

/* Line and column, from 1, of a byte. */
void boot_config_place(const struct boot_config *config, uint32_t pos, unsigned int *line, unsigned int *column);
/* The same of a text that was refused. */
void boot_text_place(const char *text, size_t len, int pos, unsigned int *line, unsigned int *column);

/* The word of that name below a node; NULL: there is none. */
const struct boot_node *boot_find(const struct boot_node *node, const char *word);

/* The whole key of a word, joined by dots. */
void boot_key(const struct boot_node *node, struct buf *out);

/* A line for each value, with its whole key: what /proc/bootconfig shows. */
void boot_config_list(const struct boot_config *config, struct buf *out);
/* The same as a tree in braces. */
void boot_config_show(const struct boot_config *config, struct buf *out);

#endif
