/*
 * trigger/probe_member: members of what a parameter, or what is returned, points to: NAME->MEMBER->MEMBER.MEMBER.
 *
 * Where they are is asked of the world, which has debug information, and kept with the probe: that may be gone when the line is read
 * again.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/probe.h"

/* What was said instead of a place. */
static int refuse(struct probe_read *read, const char *answer)
{
	const size_t at = read->offset + strtoul(answer + 1, NULL, 10);

	if (*answer == '!')
		return probe_refuse(read, -EINVAL, "This is not a pointer to union/structure.", at);
	if (*answer == '*')
		return read_refuse_silently(read->error, -EOPNOTSUPP, "its bits are not within a number of its type");
	return probe_refuse(read, -ENOENT, "This field is not found.", at);
}

/* KIND [: BITS @ SHIFT], up to the first offset; NULL: it makes no sense. */
static const char *read_kind(struct probe_read *read, const char *answer)
{
	char *end = (char *)(uintptr_t)answer + 1;

	read->member = (struct probe_param){ .name = "", .kind = *answer, .at = -1 };
	/* The plus of an offset is no sign. */
	if (isdigit((unsigned char)*end))
		read->member.size = (uint8_t)strtoul(end, &end, 10);
	if (*end == ':') {
		unsigned long bits = strtoul(end + 1, &end, 10), shift = *end == '@' ? strtoul(end + 1, &end, 10) : 64;

		if (!bits || bits > 64 || shift > 64 - bits)
			return NULL;
		read->bits = (uint32_t)bits;
		read->shift = (uint32_t)shift;
	}
	return *end == '+' ? end : NULL;
}

static int note(struct probe_read *read, const char *path, const char *answer)
{
	struct spec_probe *probe = read->probe;
	const int len = (int)strcspn(answer, ";");
	const size_t room = (probe->members ? strlen(probe->members) : 0) + strlen(path) + (size_t)len + 3;
	char *all = read_alloc(read->mem, room);

	if (!all)
		return -ENOMEM;
	snprintf(all, room, "%s%s %.*s;", probe->members ? probe->members : "", path, len, answer);
	probe->members = all;
	return 0;
}

int probe_read_member(struct probe_read *read, const char *path, size_t at, const struct probe_param *param,
		      const struct spec_fetch **out)
{
	const struct spec_world *world = read->world;
	const struct spec_probe *probe = read->probe;
	const char *answer = NULL, *offset;
	char *end;
	int ret;

	if (param->kind != 'p')
		return probe_refuse(read, -EINVAL, "This is not a pointer to union/structure.", read->offset + at + 2);
	if (world->member && probe->symbol)
		answer = world->member(world->arg, probe->file, probe->symbol, path);
	if (!answer)
		return probe_refuse(read, -ENOENT, "This field is not found.", read->offset + at + 2);
	if (strchr("!?*", *answer))
		return refuse(read, answer);
	ret = note(read, path, answer);
	offset = read_kind(read, answer);
	if (!offset)
		return read_refuse_silently(read->error, -EINVAL, "where %.80s is makes no sense", path);
	for (; !ret && *offset == '+'; offset = end) {
		ret = probe_step(read);
		*out = probe_peek(read, *out, (int64_t)strtoull(offset + 1, &end, 10));
		if (!*out)
			return -ENOMEM;
	}
	read->is_memory = true;
	read->last = &read->member;
	return ret;
}
