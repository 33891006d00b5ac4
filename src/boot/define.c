/*
 * boot/define: lines that bring events: what the event is called.
 *
 *	p[N]:[GROUP/]EVENT PLACE ARGUMENTS	also r, f, t, e		s:[synthetic/]EVENT FIELDS
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "boot/local.h"

#define NAME_MAX_LEN 63

/* The system of one that has none in its line. */
static const char *usual_system(char kind, const char *rest)
{
	switch (kind) {
	case 's':
		return "synthetic";
	case 'e':
		return "eprobes";
	case 'f':
		return "fprobes";
	case 't':
		return "tracepoints";
	default:
		/* A path is a place in a file. */
		return rest[strspn(rest, " ")] == '/' ? "uprobes" : "kprobes";
	}
}

static bool is_name(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	return len && len <= NAME_MAX_LEN;
}

int make_define(struct make *make, const struct boot_node *node, const char *file, const char *line)
{
	struct boot_step step = { .act = BOOT_DEFINE, .file = (char *)file, .text = (char *)line };
	char system[NAME_MAX_LEN + 1], event[NAME_MAX_LEN + 1];
	const char *name = line + 1 + strspn(*line ? line + 1 : line, "0123456789");
	const char *slash, *dot;
	size_t len;

	if (!*line || !strchr("prftes", *line) || *name++ != ':')
		return make_refuse(make, node, "'%.60s' brings no event of a name: p:GROUP/EVENT ... or another of e f r s t", line);
	len = strcspn(name, " ;");
	slash = memchr(name, '/', len);
	dot = memchr(name, '.', len);
	/* Both are taken. */
	if (!slash || (dot && dot < slash))
		slash = dot;
	if ((slash && !is_name(name, (size_t)(slash - name))) ||
	    !is_name(slash ? slash + 1 : name, slash ? len - (size_t)(slash + 1 - name) : len))
		return make_refuse(make, node, "'%.60s' is no name of an event", name);
	snprintf(system, sizeof(system), "%.*s", slash ? (int)(slash - name) : NAME_MAX_LEN,
		 slash ? name : usual_system(*line, name + len));
	snprintf(event, sizeof(event), "%.*s", slash ? (int)(name + len - slash - 1) : (int)len, slash ? slash + 1 : name);
	step.system = system;
	step.event = event;
	return make_step(make, node, &step);
}
