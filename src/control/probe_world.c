/*
 * control/probe_world: see probe_world.h.
 */
#include "control/probe_world.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "control/stamp.h"
#include "control/symbols.h"

/* ---- functions ---- */

const struct control_functions *control_items_functions(struct control_items *items)
{
	if (!items->has_functions && !control_functions_read(&items->functions, items->control, NULL))
		items->has_functions = true;
	return items->has_functions ? &items->functions : NULL;
}

static bool is_of(const struct control_function *function, const char *module, const char *name)
{
	return !strcmp(function->name, name) && (!module || !strcmp(function->module, module));
}

bool control_probe_means(const struct spec_probe *probe, const struct control_function *function)
{
	return is_of(function, probe->file, probe->known_as ? probe->known_as : probe->symbol);
}

/* Functions of one file stand together. */
static int places(void *arg, const char *module, const char *name)
{
	const struct control_functions *functions = control_items_functions(arg);
	uint64_t base = 0;
	bool known = false;
	int here = 0, most = 0;

	for (size_t i = 0; functions && i < functions->n; i++) {
		const struct control_function *function = &functions->all[i];

		known |= module && !strcmp(function->module, module);
		if (!is_of(function, module, name))
			continue;
		here = function->address >> SYMBOL_SPACE_SHIFT == base ? here + 1 : 1;
		base = function->address >> SYMBOL_SPACE_SHIFT;
		most = here > most ? here : most;
	}
	return most || !module || known ? most : -ENOENT;
}

/* A function may have several names, of which plans have one. */
static const char *known_as(void *arg, const char *module, const char *name)
{
	struct control_items *items = arg;
	const struct control_functions *functions = control_items_functions(items);
	char text[512];
	uint64_t start, end;

	if (!functions || places(arg, module, name) ||
	    (size_t)snprintf(text, sizeof(text), "%s%s%s", module ? module : "", module ? ":" : "", name) >= sizeof(text) ||
	    !control_function(items->control, text, &start, &end))
		return NULL;
	for (size_t i = 0; i < functions->n; i++)
		if (functions->all[i].address == start)
			return functions->all[i].name;
	return NULL;
}

/* Of functions of that name it is the first whose file tells. */
static const char *find_prototype(struct control_items *items, const char *module, const char *name, uint64_t *address)
{
	const struct control_functions *functions = control_items_functions(items);
	const char *other = known_as(items, module, name), *text = NULL;

	for (size_t i = 0; functions && !text && i < functions->n; i++) {
		if (!is_of(&functions->all[i], module, other ? other : name))
			continue;
		*address = functions->all[i].address;
		text = control_prototype(items->control, *address);
	}
	return text;
}

static const char *prototype(void *arg, const char *module, const char *name)
{
	uint64_t address;

	return find_prototype(arg, module, name, &address);
}

static const char *member(void *arg, const char *module, const char *name, const char *path)
{
	struct control_items *items = arg;
	uint64_t address;

	buf_reset(&items->member);
	if (!find_prototype(items, module, name, &address) || control_member(items->control, address, path, &items->member))
		return NULL;
	return items->member.data;
}

/* Of functions within each other it is the inner one. */
static bool function_at(void *arg, uint64_t address, const char **module, const char **name, uint64_t *start)
{
	const struct control_functions *functions = control_items_functions(arg);
	const struct control_function *found = NULL;

	for (size_t i = 0; functions && i < functions->n; i++) {
		const struct control_function *function = &functions->all[i];

		if (address >= function->address && address - function->address < (function->size ? function->size : 1))
			found = function;
	}
	if (!found || places(arg, found->module, found->name) != 1)
		return false;
	*module = found->module;
	*name = found->name;
	*start = found->address;
	return true;
}

static bool data(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	struct control_items *items = arg;

	return control_data(items->control, name, start, end);
}

/* ---- files ---- */

static int find_file(void *arg, const char *path, char *real)
{
	struct stat st;

	(void)arg;
	if (*path != '/' || stat(path, &st) || !realpath(path, real))
		return -ENOENT;
	return S_ISREG(st.st_mode) ? 0 : -EINVAL;
}

/* ---- events ---- */

static const char *system_of(void *arg, const char *name)
{
	const struct control_registry *events = ((struct control_items *)arg)->events;
	const char *system = NULL;

	for (uint32_t i = 0; i < events->nevents; i++) {
		const struct control_event *event = &events->events[i];

		if (!event->shown || event->dynamic || strcmp(event->name, name))
			continue;
		if (system && strcmp(system, event->system))
			return NULL;
		system = event->system;
	}
	return system;
}

void control_probe_world(struct control_items *items, struct spec_world *world)
{
	(void)items;
	world->system_of = system_of;
	world->places = places;
	world->at = function_at;
	world->data = data;
	world->known_as = known_as;
	world->prototype = prototype;
	world->member = member;
	world->file = find_file;
}

/* ---- what is kept ---- */

struct kept {
	const struct spec_world *world;
	char file[PATH_MAX];
	char *prototype;
	char *known_as;
	char *members;
};

static const struct decode_format *kept_event(void *arg, const char *system, const char *name)
{
	const struct spec_world *world = ((struct kept *)arg)->world;

	return world->event(world->arg, system, name);
}

static const char *kept_system(void *arg, const char *event)
{
	const struct spec_world *world = ((struct kept *)arg)->world;

	return system_of(world->arg, event);
}

static const char *kept_prototype(void *arg, const char *module, const char *name)
{
	(void)module, (void)name;
	return ((struct kept *)arg)->prototype;
}

static const char *kept_known_as(void *arg, const char *module, const char *name)
{
	(void)module, (void)name;
	return ((struct kept *)arg)->known_as;
}

/* PATH ANSWER; and so on: of one that was asked for. */
static const char *kept_member(void *arg, const char *module, const char *name, const char *path)
{
	char *at = ((struct kept *)arg)->members;
	const size_t len = strlen(path);

	(void)module, (void)name;
	for (; at && *at; at += strcspn(at, ";"), at += *at == ';')
		if (!strncmp(at, path, len) && at[len] == ' ')
			return at + len + 1;
	return NULL;
}

static int kept_file(void *arg, const char *path, char *real)
{
	const struct kept *kept = arg;

	(void)path;
	strcpy(real, kept->file);
	return 0;
}

static bool kept_function(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	const struct spec_world *world = ((struct kept *)arg)->world;

	return world->function(world->arg, name, start, end);
}

/* Places of the symbol space are dealt once. */
static bool kept_at(void *arg, uint64_t address, const char **module, const char **name, uint64_t *start)
{
	const struct spec_world *world = ((struct kept *)arg)->world;

	return world->at(world->arg, address, module, name, start);
}

static bool kept_data(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	const struct spec_world *world = ((struct kept *)arg)->world;

	return world->data(world->arg, name, start, end);
}

size_t control_probe_line(const char *text)
{
	return strcspn(text, "\n");
}

void control_probe_keep(struct control_items *items, const struct spec_probe *probe, const char *line, size_t len, struct buf *text)
{
	const char *takes = probe->by_prototype ? prototype(items, probe->file, probe->symbol) : NULL;

	buf_add(text, line, len);
	buf_printf(text, "\n%s\n%s\n%s\n%s", probe->kind == SPEC_PROBE_FILE ? probe->file : "", takes ? takes : "",
		   probe->known_as ? probe->known_as : "", probe->members ? probe->members : "");
	buf_putc(text, '\n');
	if (probe->kind == SPEC_PROBE_FILE)
		control_stamp_put(text, probe->file);
}

/* The line behind that one, and nothing of it where there is none. */
static char *next_line(char **at)
{
	char *line = strsep(at, "\n");

	return line && *line ? line : NULL;
}

int control_probe_recall(struct spec_probe **probe, const struct spec_world *world, const char *text, struct spec_error *error)
{
	struct kept *kept = calloc(1, sizeof(*kept));
	struct spec_world old = {
		.arg = kept, .event = kept_event, .function = kept_function, .system_of = kept_system, .prototype = kept_prototype,
		.known_as = kept_known_as, .member = kept_member, .file = kept_file, .at = kept_at, .data = kept_data,
		.anything = world->anything,
	};
	char *copy = strdup(text), *at = copy, *line, *file;
	int r = -ENOMEM;

	*probe = NULL;
	if (kept && copy) {
		line = strsep(&at, "\n");
		file = next_line(&at);
		kept->world = world;
		kept->prototype = next_line(&at);
		kept->known_as = next_line(&at);
		kept->members = next_line(&at);
		if (file && strlen(file) < sizeof(kept->file))
			strcpy(kept->file, file);
		r = spec_probe_parse(probe, &old, 'd', line, strlen(line), error);
	}
	free(copy);
	free(kept);
	return r;
}
