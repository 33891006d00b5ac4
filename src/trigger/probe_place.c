/*
 * trigger/probe_place: what a probe is called and where it is: the first two words of its line.
 *
 *   p|r[MAXACTIVE][:[GROUP/][NAME]]  [FILE:]FUNCTION[+OFFSET][%return] | 0xADDRESS | PATH:OFFSET[%return][(SEMAPHORE)]
 *   f[MAXACTIVE][:[GROUP/][NAME]]    FUNCTION[%return]
 *   t[:[GROUP/][NAME]]               EVENT
 *   e[:[GROUP/][NAME]]               SYSTEM.EVENT
 *
 * Names are made of the place where none was given. Things are looked at in the kernel's order, as the first refusal counts.
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "trigger/probe.h"

#define MAX_ACTIVE 4096

static const char bad_place[] = "Invalid probed address or symbol";
static const char bad_suffix[] = "Invalid probed address suffix";

/* ---- Names ---- */

/* [group/]name or [group.]name. `name` NULL: there is a group and nothing behind it. */
static int read_event_name(struct probe_read *read, char *text, size_t offset, char **group, char **name)
{
	char *slash = strchr(text, '/');

	if (!slash)
		slash = strchr(text, '.');
	*name = text;
	if (slash) {
		if (slash == text)
			return probe_refuse(read, -EINVAL, "Group name is not specified", offset);
		if (slash - text + 1 > SPEC_NAME_MAX)
			return probe_refuse(read, -EINVAL, "Group name is too long", offset);
		*group = read_dup(read->mem, text, (size_t)(slash - text));
		if (!*group)
			return -ENOMEM;
		if (!read_is_system_name(*group))
			return probe_refuse(read, -EINVAL, "Group name must follow the same rules as C identifiers", offset);
		*name = slash + 1;
		offset += (size_t)(slash + 1 - text);
		if (!**name) {
			*name = NULL;
			return 0;
		}
	}
	if (!**name)
		return probe_refuse(read, -EINVAL, "Event name is not specified", offset);
	if (strlen(*name) >= SPEC_NAME_MAX)
		return probe_refuse(read, -EINVAL, "Event name is too long", offset);
	if (!read_is_name(*name))
		return probe_refuse(read, -EINVAL, "Event name must follow the same rules as C identifiers", offset);
	return 0;
}

/* What stands behind the first word's colon, else the kind's group and what the place makes of itself. */
static int read_names(struct probe_read *read, const char *colon, const char *by_itself)
{
	static const char *const groups[] = {
		[SPEC_PROBE_EVENT] = "eprobes", [SPEC_PROBE_CODE] = "kprobes", [SPEC_PROBE_FILE] = "uprobes",
		[SPEC_PROBE_FUNCTION] = "fprobes", [SPEC_PROBE_TRACEPOINT] = "tracepoints",
	};
	struct spec_probe *probe = read->probe;
	char *group = NULL, *name = NULL, *text;
	int ret;

	read->at = 0;
	if (colon) {
		text = read_dup(read->mem, colon + 1, strlen(colon + 1));
		if (!text)
			return -ENOMEM;
		ret = read_event_name(read, text, (size_t)(colon + 1 - read->words[0]), &group, &name);
		if (ret)
			return ret;
	}
	read_copy_name(probe->group, group ? group : groups[probe->kind]);
	snprintf(probe->name, sizeof(probe->name), "%s", name ? name : by_itself);
	for (char *c = probe->name; !name && *c; c++) {
		if (!isalnum((unsigned char)*c) || (c == probe->name && isdigit((unsigned char)*c)))
			*c = '_';
	}
	return 0;
}

/* How many calls at once the kernel would remember. */
static int read_max_active(struct probe_read *read)
{
	const char *word = read->words[0], *colon = strchr(word, ':');
	size_t len = colon ? (size_t)(colon - word - 1) : strlen(word + 1);
	char *digits = read_dup(read->mem, word + 1, len);
	uint64_t number;

	read->at = 0;
	if (!isdigit((unsigned char)word[1]))
		return 0;
	if (!digits)
		return -ENOMEM;
	if (word[0] == 'p' || word[0] == 't')
		return probe_refuse(read, -EINVAL, "Maxactive is only for function exit", 1);
	if (read_number(digits, &number) || !number || number > UINT32_MAX)
		return probe_refuse(read, -EINVAL, "Invalid maxactive number", 1);
	if (number > MAX_ACTIVE)
		return probe_refuse(read, -EINVAL, "Maxactive is too big", 1);
	read->probe->max_active = (uint32_t)number;
	return 0;
}

/* ---- Functions and instructions ---- */

/* %return at the end, which is cut. */
static int read_return(struct probe_read *read, char *place, const char *whole)
{
	char *percent = strchr(place, '%');

	if (!percent)
		return 0;
	if (strcmp(percent, "%return"))
		return probe_refuse(read, -EINVAL, bad_suffix, (size_t)(percent - whole));
	*percent = '\0';
	read->probe->returns = true;
	return 0;
}

/* [FILE:]FUNCTION, as far as anybody knows it. */
static int read_function(struct probe_read *read, char *text, const char *unknown)
{
	struct spec_probe *probe = read->probe;
	char *colon = strchr(text, ':');
	const char *other;
	int n;

	if (colon) {
		*colon = '\0';
		probe->file = text;
	}
	probe->symbol = colon ? colon + 1 : text;
	if (!*probe->symbol || (colon && colon == text))
		return probe_refuse(read, -EINVAL, unknown, 0);
	other = read->world->known_as ? read->world->known_as(read->world->arg, probe->file, probe->symbol) : NULL;
	if (other)
		probe->known_as = read_dup(read->mem, other, strlen(other));
	n = read->world->places ? read->world->places(read->world->arg, probe->file, other ? other : probe->symbol) : 1;
	if (!n || (n < 0 && !probe->file && !read->world->anything))
		return probe_refuse(read, -EINVAL, unknown, 0);
	if (n > 1 && probe->kind == SPEC_PROBE_CODE)
		return probe_refuse(read, -EINVAL, "The symbol is not unique", 0);
	return 0;
}

/* Where it is in the symbol space: the function around it is what programs are told. */
static int read_address(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	const char *module, *name;
	uint64_t start;

	if (!read->world->at || !read->world->at(read->world->arg, probe->offset, &module, &name, &start))
		return 0;
	probe->address = probe->offset;
	probe->offset -= start;
	probe->file = read_dup(read->mem, module, strlen(module));
	probe->symbol = read_dup(read->mem, name, strlen(name));
	if (!probe->file || !probe->symbol)
		return -ENOMEM;
	read->at_entry = !probe->offset;
	return 0;
}

static int read_code(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char *text = read_dup(read->mem, read->words[1], strlen(read->words[1])), *sign;
	int ret;

	read->at = 1;
	if (!text)
		return -ENOMEM;
	if (!read_number(text, &probe->offset))
		return read_address(read);
	ret = read_return(read, text, text);
	if (ret)
		return ret;
	sign = strpbrk(text, "+-");
	if (sign && (*sign == '-' || sign[1] == '+' || read_number(sign + 1, &probe->offset) || probe->offset > UINT32_MAX))
		return probe_refuse(read, -EINVAL, bad_place, 0);
	if (sign)
		*sign = '\0';
	ret = read_function(read, text, bad_place);
	if (!ret && probe->returns && probe->offset)
		ret = probe_refuse(read, -EINVAL, "Retprobe address must be an function entry", 0);
	read->at_entry = !probe->offset;
	return ret;
}

static int read_code_line(struct probe_read *read)
{
	const struct spec_probe *probe = read->probe;
	char *colon = strchr(read->words[0], ':'), name[PATH_MAX];
	int ret;

	read->probe->kind = SPEC_PROBE_CODE;
	read->probe->returns = read->words[0][0] == 'r';
	ret = read_max_active(read);
	if (!ret)
		ret = read_code(read);
	if (ret)
		return ret;
	if (probe->symbol && !probe->address)
		snprintf(name, sizeof(name), "%c_%s%s%s_%llu", probe->returns ? 'r' : 'p', probe->file ? probe->file : "",
			 probe->file ? ":" : "", probe->symbol, (unsigned long long)probe->offset);
	else
		snprintf(name, sizeof(name), "%c_0x%016llx", probe->returns ? 'r' : 'p',
			 (unsigned long long)(probe->address ? probe->address : probe->offset));
	return read_names(read, colon, name);
}

static bool has_retval(const char *word, size_t *at)
{
	const char *found = strstr(word, "$retval");

	*at = found ? (size_t)(found - word) : 0;
	return found && !isalnum((unsigned char)found[7]) && found[7] != '_';
}

/* Who asks for what is returned means the return. */
static int read_retval(struct probe_read *read)
{
	size_t offset;

	for (uint32_t i = 2; i < read->nwords; i++) {
		if (!has_retval(read->words[i], &offset))
			continue;
		read->at = i;
		if (read->probe->kind == SPEC_PROBE_TRACEPOINT)
			return probe_refuse(read, -EINVAL, "$retval is not available on probe", offset);
		read->probe->returns = true;
	}
	return 0;
}

static int read_function_line(struct probe_read *read)
{
	static const char unknown[] = "Failed to register probe event";
	struct spec_probe *probe = read->probe;
	char *text = read_dup(read->mem, read->words[1], strlen(read->words[1])), name[2 * SPEC_NAME_MAX];
	int ret;

	probe->kind = SPEC_PROBE_FUNCTION;
	if (!text)
		return -ENOMEM;
	ret = read_max_active(read);
	read->at = 1;
	if (!ret)
		ret = read_return(read, text, text);
	if (!ret)
		ret = read_retval(read);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "%.100s__%s", text, probe->returns ? "exit" : "entry");
	ret = read_names(read, strchr(read->words[0], ':'), name);
	if (!ret && probe->max_active && !probe->returns)
		ret = probe_refuse(read, -EINVAL, "Maxactive is only for function exit", 1);
	read->at = 1;
	if (!ret)
		ret = read_function(read, text, unknown);
	read->at_entry = true;
	return ret;
}

/* ---- Files ---- */

/* (SEMAPHORE) at the end, which is cut. */
static int read_semaphore(struct probe_read *read, char *text, const char *whole)
{
	char *open = strchr(text, '('), *close = open ? strchr(open, ')') : NULL;
	int ret;

	if (!open)
		return 0;
	if (!close)
		return probe_refuse(read, -EINVAL, "Reference counter brace is not closed", (size_t)(open - whole) + strlen(open));
	if (close[1])
		return probe_refuse(read, -EINVAL, "Reference counter has wrong suffix", (size_t)(close + 1 - whole));
	*open = *close = '\0';
	ret = read_number(open + 1, &read->probe->semaphore);
	return ret ? probe_refuse(read, ret, "Invalid reference counter offset", (size_t)(open + 1 - whole)) : 0;
}

static int read_path(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char real[PATH_MAX];
	int ret;

	snprintf(real, sizeof(real), "%s", probe->path);
	ret = read->world->file ? read->world->file(read->world->arg, probe->path, real) : 0;
	if (ret == -EINVAL)
		return probe_refuse(read, ret, "Not a regular file", 0);
	if (ret)
		return probe_refuse(read, ret, "Failed to find the given file", 0);
	probe->file = read_dup(read->mem, real, strlen(real));
	return probe->file ? 0 : -ENOMEM;
}

/* p_NAME_0xOFFSET: the name of the file up to its first point, dash or underscore. */
static void name_of_file(const struct spec_probe *probe, char *name, size_t size)
{
	const char *tail = strrchr(probe->path, '/');

	tail = tail ? tail + 1 : probe->path;
	snprintf(name, size, "p_%.*s_0x%llx", (int)strcspn(tail, ".-_"), tail, (unsigned long long)probe->offset);
}

static int read_file_line(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char *text = read_dup(read->mem, read->words[1], strlen(read->words[1])), *colon = text ? strrchr(text, ':') : NULL;
	char name[PATH_MAX];
	int ret;

	if (!text)
		return -ENOMEM;
	probe->kind = SPEC_PROBE_FILE;
	probe->returns = read->words[0][0] == 'r';
	probe->path = text;
	*colon++ = '\0';
	read->at = 1;
	ret = read_path(read);
	if (!ret)
		ret = read_semaphore(read, colon, text);
	if (!ret)
		ret = read_return(read, colon, text);
	if (ret)
		return ret;
	ret = read_number(colon, &probe->offset);
	if (ret)
		return probe_refuse(read, ret, "Invalid uprobe offset", (size_t)(colon - text));
	name_of_file(probe, name, sizeof(name));
	return read_names(read, read->words[0][1] == ':' ? read->words[0] + 1 : NULL, name);
}

/* ---- Events ---- */

static int read_event_line(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char *on_system = NULL, *on_event = NULL, *text = read_dup(read->mem, read->words[1], strlen(read->words[1]));
	int ret;

	probe->kind = SPEC_PROBE_EVENT;
	if (!text)
		return -ENOMEM;
	ret = read_names(read, strchr(read->words[0], ':'), "");
	if (ret)
		return ret;
	read->at = 1;
	ret = read_event_name(read, text, 0, &on_system, &on_event);
	if (ret || !on_system || !on_event)
		return probe_refuse(read, -EINVAL, "This requires both group and event name to attach", 0);
	read_copy_name(probe->on_system, on_system);
	read_copy_name(probe->on_event, on_event);
	if (!probe->name[0])
		read_copy_name(probe->name, on_event);
	read->format = read->world->event ? read->world->event(read->world->arg, on_system, on_event) : NULL;
	if (!read->format && !read->world->anything)
		return probe_refuse(read, -ENODEV, "Attached event does not exist", 0);
	return 0;
}

/* The kernel's have one name, events of programs a system, too: it may be said where several have one of that name. */
static int read_declared(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	const char *text = read->words[1], *dot = strpbrk(text, "./"), *name = dot ? dot + 1 : text, *system = NULL;
	size_t len = dot ? (size_t)(dot - text) : 0;

	read->at = 1;
	for (const char *c = name; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_')
			return probe_refuse(read, -EINVAL, *c == '%' ? bad_suffix : "Invalid character in tracepoint name",
					    (size_t)(c - text));
	}
	if (!read_copy_name(probe->on_event, name) || len >= SPEC_NAME_MAX || !*name)
		return probe_refuse(read, -EINVAL, "Tracepoint name is too long", 0);
	memcpy(probe->on_system, text, len);
	if (!dot && read->world->system_of)
		system = read->world->system_of(read->world->arg, name);
	if (system)
		read_copy_name(probe->on_system, system);
	if (probe->on_system[0] && read->world->event)
		read->format = read->world->event(read->world->arg, probe->on_system, name);
	if (!read->format && !read->world->anything)
		return probe_refuse(read, -ENOENT, "Tracepoint is not found", 0);
	return 0;
}

static int read_declared_line(struct probe_read *read)
{
	struct spec_probe *probe = read->probe;
	char name[SPEC_NAME_MAX + 1];
	int ret;

	probe->kind = SPEC_PROBE_TRACEPOINT;
	ret = read_max_active(read);
	if (!ret)
		ret = read_declared(read);
	if (!ret)
		ret = read_retval(read);
	if (ret)
		return ret;
	probe->symbol = read_dup(read->mem, read->words[1], strlen(read->words[1]));
	if (!probe->symbol)
		return -ENOMEM;
	snprintf(name, sizeof(name), "%s%s", isdigit((unsigned char)probe->on_event[0]) ? "_" : "", probe->on_event);
	return read_names(read, strchr(read->words[0], ':'), name);
}

/* ---- Which of them ---- */

const char *probe_location(enum spec_probe_kind kind)
{
	switch (kind) {
	case SPEC_PROBE_EVENT:
		return "event_probe";
	case SPEC_PROBE_CODE:
		return "trace_kprobe";
	case SPEC_PROBE_FILE:
		return "trace_uprobe";
	default:
		return "trace_fprobe";
	}
}

static bool is_in_file(const char *word)
{
	const char *colon = strrchr(word, ':');

	return strchr(word, '/') && colon && isdigit((unsigned char)colon[1]);
}

static bool is_in_code(const char *word)
{
	return !(strchr(word, '/') && strchr(word, ':'));
}

int probe_read_place(struct probe_read *read, char file)
{
	const char *word = read->nwords > 1 ? read->words[1] : "";

	if (read->nwords < 2)
		return -ECANCELED;
	switch (read->words[0][0]) {
	case 'p':
	case 'r':
		if (file != 'u' && is_in_code(word)) {
			snprintf(read->error->location, sizeof(read->error->location), "%s", probe_location(SPEC_PROBE_CODE));
			return read_code_line(read);
		}
		if (file == 'k' || !is_in_file(word))
			return -ECANCELED;
		snprintf(read->error->location, sizeof(read->error->location), "%s", probe_location(SPEC_PROBE_FILE));
		return read_file_line(read);
	case 'f':
	case 't':
		if (file != 'd')
			return -ECANCELED;
		snprintf(read->error->location, sizeof(read->error->location), "%s", probe_location(SPEC_PROBE_FUNCTION));
		return read->words[0][0] == 'f' ? read_function_line(read) : read_declared_line(read);
	case 'e':
		return file == 'd' ? read_event_line(read) : -ECANCELED;
	default:
		return -ECANCELED;
	}
}
