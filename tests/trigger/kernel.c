/*
 * What a real kernel made of each line of tests/trigger/cases (recorded by record_vm into `outcomes`) is what we make of
 * it: the same errno, the same listing, the same message, command and caret in error_log, the same format text. And what
 * is shown can be written back: it means the same thing.
 *
 * On purpose we differ where the list below says so.
 */
#include <errno.h>
#include <string.h>

#include "../insist.h"
#include "trigger/spec.h"

#define ITEMS 512

struct event {
	char system[64], name[64];
	struct decode_format *format;
};

struct item {
	char system[64], event[64];
	struct spec_trigger *trigger;
	bool paused;
};

static struct event events[64];
static uint32_t nevents;
static struct item items[ITEMS];
static uint32_t nitems;
static struct spec_synth *synths[ITEMS];
static uint32_t nsynths;
static struct spec_probe *probes[ITEMS];
static uint32_t nprobes;
static uint32_t serial, failures, checked;

/* Lines that the kernel refuses and we take, or the other way round. */
static const char *const differ[] = {
	/* The kernel takes the first 16 and says nothing. */
	"sched/sched_switch hist:keys=next_pid:a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1,j=1,k=1,l=1,m=1,n=1,o=1,p=1,q=1",
	/* The kernel takes $x for prev_prio. */
	"sched/sched_switch hist:keys=next_pid:x=prev_prio+1,y=$x",
	/* A file that is still to come may have it. */
	"dynamic_events f nomodule:vfs_read",
	/* To what a pointer points is for who reads a trace. */
	"kprobe_events p vfs_read file:string",
	"kprobe_events p vfs_read file:ustring",
	"kprobe_events p vfs_read $arg1:string",
	"dynamic_events f vfs_read file:string",
	/* Entries of the kernel's directories. */
	"kprobe_events p vfs_read a=%di:%pd",
	NULL,
};

/* ---- The world ---- */

static const struct decode_format *find_event(void *arg, const char *system, const char *name)
{
	(void)arg;
	for (uint32_t i = 0; i < nevents; i++) {
		if (!strcmp(events[i].system, system) && !strcmp(events[i].name, name))
			return events[i].format;
	}
	return NULL;
}

static const struct spec_hist *hist_at(void *arg, uint32_t n, const char **system, const char **event)
{
	(void)arg;
	for (uint32_t i = 0; i < nitems; i++) {
		if (items[i].trigger->kind != SPEC_HIST || n--)
			continue;
		*system = items[i].system;
		*event = items[i].event;
		return items[i].trigger->hist;
	}
	return NULL;
}

static const struct spec_synth *find_synth(void *arg, const char *name)
{
	(void)arg;
	for (uint32_t i = 0; i < nsynths; i++) {
		if (!strcmp(synths[i]->name, name))
			return synths[i];
	}
	return NULL;
}

static bool is_clock(void *arg, const char *name)
{
	(void)arg;
	return !strcmp(name, "global") || !strcmp(name, "mono");
}

/* What the kernel has of functions, and knows of them. */
static const struct {
	const char *name, *prototype;
} functions[] = {
	{ "vfs_read", "i8(p@0 file,p@1 buf,u8@2 count,p@3 pos)" },
	{ "kfree", "v(p@0 object)" },
	{ "kernel_clone", "i4(p@0 args)" },
	{ "do_exit", "v(i8@0 code)" },
	{ "jiffies", NULL },
};
#define FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

static int places(void *arg, const char *module, const char *name)
{
	(void)arg;
	if (module)
		return -ENOENT;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (functions[i].prototype && !strcmp(functions[i].name, name))
			return 1;
	}
	return 0;
}

static const char *prototype(void *arg, const char *module, const char *name)
{
	(void)arg, (void)module;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (!strcmp(functions[i].name, name))
			return functions[i].prototype;
	}
	return NULL;
}

static bool is_symbol(void *arg, const char *name, uint64_t *start, uint64_t *end)
{
	(void)arg;
	*start = *end = 0;
	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (!strcmp(functions[i].name, name))
			return true;
	}
	return false;
}

static int find_file(void *arg, const char *path, char *real)
{
	(void)arg, (void)real;
	if (!strcmp(path, "/sys"))
		return -EINVAL;
	return !strcmp(path, "/bin/sh") || !strcmp(path, "/bin/../bin/sh") || !strcmp(path, "/lib/libfoo-1.2.so") ? 0 : -ENOENT;
}

static const char *system_of(void *arg, const char *event)
{
	(void)arg;
	for (uint32_t i = 0; i < nevents; i++) {
		if (!strcmp(events[i].name, event))
			return events[i].system;
	}
	return NULL;
}

static const struct spec_world world = {
	.event = find_event, .hist = hist_at, .synth = find_synth, .clock = is_clock, .function = is_symbol, .system_of = system_of,
	.places = places, .prototype = prototype, .file = find_file,
};

static void forget_all(void)
{
	while (nitems)
		spec_trigger_free(items[--nitems].trigger);
	while (nsynths)
		spec_synth_free(synths[--nsynths]);
	while (nprobes)
		spec_probe_free(probes[--nprobes]);
}

/* ---- Applying ---- */

static bool refers(const struct spec_term *term, uint32_t to)
{
	return term && ((term->what == SPEC_VAR && !term->is_own && term->var_serial == to) || refers(term->a, to) ||
			refers(term->b, to));
}

static bool uses(const struct spec_hist *hist, uint32_t to)
{
	for (uint32_t i = 0; i < hist->nvals; i++) {
		if (refers(hist->vals[i], to))
			return true;
	}
	for (uint32_t i = 0; i < hist->nvars; i++) {
		if (refers(hist->vars[i].value, to))
			return true;
	}
	for (uint32_t i = 0; i < hist->nactions; i++) {
		for (uint32_t j = 0; j < hist->actions[i]->nparams; j++) {
			if (refers(hist->actions[i]->params[j], to))
				return true;
		}
	}
	return false;
}

static int remove_item(const char *system, const char *event, const struct spec_trigger *like)
{
	for (uint32_t i = 0; i < nitems; i++) {
		if (strcmp(items[i].system, system) || strcmp(items[i].event, event) ||
		    !spec_trigger_same(items[i].trigger, like))
			continue;
		for (uint32_t j = 0; j < nitems && like->kind == SPEC_HIST; j++) {
			if (j != i && items[j].trigger->kind == SPEC_HIST &&
			    uses(items[j].trigger->hist, items[i].trigger->hist->serial))
				return -EBUSY;
		}
		spec_trigger_free(items[i].trigger);
		memmove(&items[i], &items[i + 1], (--nitems - i) * sizeof(items[0]));
		return 0;
	}
	return 0;
}

/* New ones are shown first, histograms last. */
static void add_item(const char *system, const char *event, struct spec_trigger *trigger)
{
	struct item item = { .trigger = trigger };

	CHECK(nitems < ITEMS, "too many items");
	strcpy(item.system, system);
	strcpy(item.event, event);
	if (trigger->kind == SPEC_HIST) {
		trigger->hist->serial = ++serial;
		item.paused = trigger->hist->pause;
		items[nitems] = item;
	} else {
		memmove(&items[1], &items[0], nitems * sizeof(items[0]));
		items[0] = item;
	}
	nitems++;
}

static int meet(const char *system, const char *event, const char *text, const struct spec_hist *hist,
		struct spec_error *error)
{
	uint32_t old = 0;
	int ret = spec_hist_meet(hist, &world, system, event, text, strlen(text), &old, error);

	for (uint32_t i = 0; ret == 1 && i < nitems; i++) {
		if (items[i].trigger->kind == SPEC_HIST && !old--) {
			items[i].paused = hist->pause || (items[i].paused && !hist->cont);
			break;
		}
	}
	return ret;
}

/* Adds what it needs hidden, and reads it again. */
static int add_hidden(struct spec_trigger **trigger, const char *system, const char *event, const char *text,
		      struct spec_error *error)
{
	const struct spec_hist *hist = (*trigger)->hist;

	for (uint32_t i = 0; i < hist->nhidden; i++) {
		struct spec_trigger *hidden;
		const struct spec_hidden *h = hist->hidden[i];

		CHECK(!spec_trigger_parse(&hidden, &world, h->system, h->event, h->text, strlen(h->text), error), "%s: %s",
		      h->text, error->text);
		add_item(h->system, h->event, hidden);
	}
	spec_trigger_free(*trigger);
	return spec_trigger_parse(trigger, &world, system, event, text, strlen(text), error);
}

/* Conditions are looked at when all else is understood. */
static int check_filter(const char *system, const char *event, const char *filter, struct spec_error *error)
{
	struct buf program = BUF_INIT;
	int ret = filter ? spec_filter_compile(&world, find_event(NULL, system, event), filter, strlen(filter), &program, error)
			 : 0;

	buf_fini(&program);
	return ret;
}

static int write_trigger(const char *system, const char *event, const char *text, struct spec_error *error)
{
	struct spec_trigger *trigger;
	int ret = spec_trigger_parse(&trigger, &world, system, event, text, strlen(text), error);

	if (ret)
		return ret;
	if (trigger->remove) {
		ret = remove_item(system, event, trigger);
		spec_trigger_free(trigger);
		return ret;
	}
	ret = check_filter(system, event, trigger->filter, error);
	if (!ret && trigger->kind == SPEC_HIST) {
		ret = meet(system, event, text, trigger->hist, error);
		if (!ret && trigger->hist->nhidden) {
			ret = add_hidden(&trigger, system, event, text, error);
			CHECK(!ret && !trigger->hist->nhidden, "%s: %s", text, error->text);
		}
	}
	for (uint32_t i = 0; !ret && i < nitems && trigger->kind != SPEC_HIST; i++) {
		if (!strcmp(items[i].system, system) && !strcmp(items[i].event, event) &&
		    spec_trigger_clash(items[i].trigger, trigger))
			ret = -EEXIST;
	}
	if (ret) {
		spec_trigger_free(trigger);
		return ret < 0 ? ret : 0;
	}
	add_item(system, event, trigger);
	return 0;
}

static int write_synth(bool dynamic, const char *text, struct spec_error *error)
{
	struct spec_synth *synth;
	bool remove;
	int ret = spec_synth_parse(&synth, &remove, &world, dynamic, text, strlen(text), error);

	if (ret)
		return ret;
	if (!remove) {
		synths[nsynths++] = synth;
		return 0;
	}
	ret = -ENOENT;
	for (uint32_t i = 0; i < nsynths; i++) {
		if (strcmp(synths[i]->name, synth->name))
			continue;
		ret = 0;
		for (uint32_t j = 0; j < nitems; j++) {
			const struct spec_hist *hist = items[j].trigger->hist;

			for (uint32_t k = 0; hist && k < hist->nactions; k++) {
				if (!strcmp(hist->actions[k]->synth, synth->name))
					ret = -EBUSY;
			}
		}
		if (!ret) {
			spec_synth_free(synths[i]);
			memmove(&synths[i], &synths[i + 1], (--nsynths - i) * sizeof(synths[0]));
		}
		break;
	}
	spec_synth_free(synth);
	return ret;
}

/* What others of the event, if it has any, say to one more point. */
static int join(const struct spec_probe *probe, struct spec_error *error)
{
	bool any = false;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < nprobes; i++) {
		if (strcmp(probes[i]->group, probe->group) || strcmp(probes[i]->name, probe->name))
			continue;
		any = true;
		ret = spec_probe_join(probe, probes[i], error);
	}
	return any ? ret : spec_probe_meet(probe, &world, error);
}

static int write_probe(char file, const char *text, struct spec_error *error)
{
	struct spec_probe *probe;
	int ret = spec_probe_parse(&probe, &world, file, text, strlen(text), error);

	if (ret)
		return ret == -ECANCELED ? -EINVAL : ret;
	ret = check_filter(probe->on_system, probe->on_event, probe->filter, error);
	if (!ret)
		ret = join(probe, error);
	if (ret) {
		spec_probe_free(probe);
		return ret;
	}
	CHECK(nprobes < ITEMS, "too many probes");
	probes[nprobes++] = probe;
	return 0;
}

/* ---- Comparing ---- */

struct outcome {
	char where[8192];
	const char *text;
	bool has_code;
	int code;
	struct buf listing;
	char error[3][8192];
	int nerror;
};

static void fail(const struct outcome *o, const char *what, const char *ours, const char *theirs)
{
	for (int i = 0; differ[i]; i++) {
		const char *text = differ[i] + strlen(o->where) + 1;

		if (!strncmp(differ[i], o->where, strlen(o->where)) && !strcmp(text, o->text))
			return;
	}
	failures++;
	fprintf(stderr, "%s %s\n\t%s\n\tours:   %s\n\tkernel: %s\n", o->where, o->text, what, ours, theirs);
}

static const char *text_of(const struct buf *buf)
{
	return buf->data ? buf->data : "";
}

static void compare_listing(const struct outcome *o, const struct buf *ours)
{
	if (strcmp(text_of(ours), text_of(&o->listing)))
		fail(o, "listing", text_of(ours), text_of(&o->listing));
}

static void compare_error(const struct outcome *o, const struct spec_error *error)
{
	char head[512], pos[32];

	if (!error->message) {
		if (o->nerror)
			fail(o, "no entry in error_log", error->text, o->error[0]);
		return;
	}
	snprintf(head, sizeof(head), "%s: error: %s", error->location, error->message);
	snprintf(pos, sizeof(pos), "%u", error->pos);
	if (!o->nerror || strcmp(head, o->error[0]))
		fail(o, "message", head, o->nerror ? o->error[0] : "nothing");
	else if (strcmp(error->command.data, o->error[1]))
		fail(o, "command", error->command.data, o->error[1]);
	else if (strcmp(pos, o->error[2]))
		fail(o, "caret", pos, o->error[2]);
}

/* What is shown can be written back, with ! before it and without what stands in square brackets. */
static void write_back(const struct outcome *o, const char *system, const char *event, const struct item *item,
		       const char *shown)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *again = NULL;
	struct buf text = BUF_INIT;
	const char *end = strrchr(shown, '[');

	buf_putc(&text, '!');
	buf_add(&text, shown, end && item->trigger->kind == SPEC_HIST ? (size_t)(end - shown) : strlen(shown));
	if (spec_trigger_parse(&again, &world, system, event, text.data, text.len, &error))
		fail(o, "what is shown is not understood", text.data, error.text);
	else if (!spec_trigger_same(again, item->trigger))
		fail(o, "what is shown means something else", text.data, "");
	spec_trigger_free(again);
	buf_fini(&text);
	spec_error_fini(&error);
}

static void list_triggers(const struct outcome *o, const char *system, const char *event, struct buf *out)
{
	for (uint32_t i = 0; i < nitems; i++) {
		size_t begin = out->len;

		if (strcmp(items[i].system, system) || strcmp(items[i].event, event))
			continue;
		spec_trigger_show(items[i].trigger, items[i].trigger->count, items[i].paused, out);
		write_back(o, system, event, &items[i], out->data + begin);
		buf_putc(out, '\n');
	}
}

static bool is_list(const char *where)
{
	return !strcmp(where, "dynamic_events") || !strcmp(where, "kprobe_events") || !strcmp(where, "uprobe_events");
}

/* The kernel says how many calls it remembers, where nobody said how many it should; that means nothing here. */
static void cut_max_active(const struct outcome *o)
{
	char *text = o->listing.data;

	if (text && !strncmp(text, "r10:", 4) && strncmp(o->text, "r10", 3)) {
		memmove(text + 1, text + 3, strlen(text + 3) + 1);
	}
}

static void run_write(const struct outcome *o)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct buf listing = BUF_INIT;
	char system[64] = "", event[64] = "", codes[2][16];
	int ret;

	if (!strcmp(o->where, "synthetic_events"))
		ret = write_synth(false, o->text, &error);
	else if (is_list(o->where))
		ret = o->text[0] == 's' ? write_synth(true, o->text, &error) : write_probe(o->where[0], o->text, &error);
	else if (sscanf(o->where, "%63[^/]/%63s", system, event) == 2)
		ret = write_trigger(system, event, o->text, &error);
	else
		ret = -ENOSYS;
	checked++;
	snprintf(codes[0], sizeof(codes[0]), "%d", -ret);
	snprintf(codes[1], sizeof(codes[1]), "%d", o->code);
	if (-ret != o->code) {
		fail(o, error.message ? error.message : error.text, codes[0], codes[1]);
		goto out;
	}
	if (ret) {
		compare_error(o, &error);
		goto out;
	}
	if (system[0])
		list_triggers(o, system, event, &listing);
	else if (o->text[0] == '!')
		goto out;
	else if (!strcmp(o->where, "synthetic_events") || o->text[0] == 's')
		spec_synth_show(synths[nsynths - 1], o->where[0] == 'd', &listing);
	else
		spec_probe_show(probes[nprobes - 1], &listing);
	if (!system[0])
		buf_putc(&listing, '\n');
	cut_max_active(o);
	compare_listing(o, &listing);
out:
	buf_fini(&listing);
	spec_error_fini(&error);
}

/* Ours says the event's name in the print format, where the kernel's own printer does. */
static void cut_brackets(struct buf *text)
{
	char *open = text->data ? strstr(text->data, "print fmt: \"(") : NULL, *close;

	if (!open || strstr(text->data, "__probe_"))
		return;
	open = strchr(open, '(');
	close = strchr(open, ')');
	memmove(open, close + 1, strlen(close + 1) + 1);
	text->len = strlen(text->data);
}

static void run_format(const struct outcome *o)
{
	struct err err = ERR_INIT;
	struct buf ours = BUF_INIT;
	struct decode_format *format;
	struct event *event = &events[nevents];
	const char *body = text_of(&o->listing);
	char system[64], name[64];

	CHECK(sscanf(o->text, "%63[^/]/%63s", system, name) == 2, "%s", o->text);
	if (!*body)
		return;
	for (uint32_t i = 0; i < nsynths; i++) {
		if (!strcmp(system, "synthetic") && !strcmp(synths[i]->name, name))
			spec_synth_format(synths[i], &ours);
	}
	for (uint32_t i = 0; i < nprobes; i++) {
		if (!strcmp(system, probes[i]->group) && !strcmp(probes[i]->name, name))
			spec_probe_format(probes[i], &ours);
	}
	cut_brackets(&ours);
	if (ours.data) {
		buf_putc(&ours, '\n');
		body = strstr(body, "format:\n") + strlen("format:\n");
		checked++;
		if (strcmp(ours.data, body))
			fail(o, "format", ours.data, body);
	}
	CHECK(!decode_format_parse(system, text_of(&o->listing), strlen(text_of(&o->listing)), NULL, &format, &err), "%s: %s",
	      o->text, err.text);
	if (ours.data) {
		decode_format_free(format);
	} else {
		strcpy(event->system, system);
		strcpy(event->name, name);
		event->format = format;
		nevents++;
	}
	buf_fini(&ours);
}

static void run(struct outcome *o)
{
	if (!strcmp(o->where, "reset"))
		forget_all();
	else if (!strcmp(o->where, "format"))
		run_format(o);
	else if (o->has_code)
		run_write(o);
	buf_reset(&o->listing);
	o->nerror = 0;
	o->error[0][0] = '\0';
	o->has_code = false;
}

static void take_line(struct outcome *o, char *line)
{
	char *blank;

	line[strcspn(line, "\n")] = '\0';
	switch (line[0]) {
	case '>':
		if (o->text)
			run(o);
		snprintf(o->where, sizeof(o->where), "%s", line + 2);
		blank = strchr(o->where, ' ');
		if (blank)
			*blank = '\0';
		o->text = blank ? blank + 1 : "";
		break;
	case '=':
		o->code = atoi(line + 2);
		o->has_code = true;
		break;
	case '+':
		buf_puts(&o->listing, line + 2);
		buf_putc(&o->listing, '\n');
		break;
	case '!':
		snprintf(o->error[o->nerror++ % 3], sizeof(o->error[0]), "%s", line + 2);
		break;
	default:
		CHECK(false, "what is this: %s", line);
	}
}

int main(void)
{
	static struct outcome outcome;
	char path[4096], line[8192];
	FILE *f;

	snprintf(path, sizeof(path), "%s/tests/trigger/outcomes", getenv("RINGSIDE_SOURCE") ? getenv("RINGSIDE_SOURCE") : ".");
	f = fopen(path, "r");
	CHECK(f, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), f))
		take_line(&outcome, line);
	run(&outcome);
	fclose(f);
	forget_all();
	buf_fini(&outcome.listing);
	for (uint32_t i = 0; i < nevents; i++)
		decode_format_free(events[i].format);
	printf("%u lines as the kernel has them, %u not\n", checked - failures, failures);
	CHECK(checked > 900, "only %u lines", checked);
	return failures > 0;
}
