/*
 * cmd/setup_journal: what a recorder that is killed cannot take back itself.
 *
 * A tracing directory knows whose instances it has. A kernel's settings know nothing of that, so what would be written to bring
 * them back is noted in a file before each change: by root in /run/ringside-setups, by others in /dev/shm. The file is locked for as
 * long as its writer lives, and goes when everything is as it was. Whoever comes next and finds one that is not locked takes back
 * what it says, as its writer would have done; one after the other, so that nobody takes what is half done for what was there.
 *
 *	tree NUMBER LEN TEXT			of which tree
 *	scope NUMBER LEN INSTANCE		a buffer; no name: the top one
 *	event NUMBER LEN NAME			an -e of it
 *	made NUMBER LEN INSTANCE		its instance was not there
 *	top NUMBER LEN				and is gone: it is the top buffer
 *	on NUMBER LEN TEXT			events that were
 *	keep NUMBER KIND LEN FILE LEN TEXT	what a file said
 *	forget NUMBER LEN			the keep before it: it was refused
 *
 * Words and numbers in lines, texts behind them as they are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mono.h"
#include "cmd/setup_local.h"

#define ROOT_PLACE "/run/ringside-setups"
#define MAX_BYTES (16u << 20)
#define TURN_MS 10000
#define TURN_STEP_US 5000

/* Nobody else may write there: what is in it is done with our rights. */
static bool is_ours(int dir)
{
	struct stat st;

	return !fstat(dir, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022);
}

/* The directory, made if it is to be; -1: there is none. */
static int open_place(bool make, char path[128])
{
	int dir;

	if (geteuid())
		snprintf(path, 128, "/dev/shm/ringside-setups-%u", (unsigned int)geteuid());
	else
		snprintf(path, 128, ROOT_PLACE);
	if (make)
		mkdir(path, 0700);
	dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (dir >= 0 && !is_ours(dir)) {
		close(dir);
		dir = -1;
	}
	return dir;
}

/* Not of the open file: what we fork must not hold it when we are gone. */
static bool lock(int fd, int how)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	return !fcntl(fd, how, &all) && (how != F_GETLK || all.l_type == F_UNLCK);
}

/* One at a time takes back what is left; a tree that gives no answer holds up the others for so long at most. Ends with close(). */
static int take_turn(int dir)
{
	int turn = openat(dir, ".turn", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	int64_t end = mono_ms() + TURN_MS;

	/* Where there are no locks nobody is waited for. */
	while (turn >= 0 && !lock(turn, F_SETLK) && (errno == EAGAIN || errno == EACCES)) {
		if (mono_ms() >= end) {
			close(turn);
			return -1;
		}
		usleep(TURN_STEP_US);
	}
	return turn;
}

/* The same for everybody who means the same tree, however it is spelled and wherever he stands. */
static const char *tree_of(struct source *source, char path[PATH_MAX])
{
	if (source_is_kernel(source))
		return "kernel";
	return realpath(source_name(source), path) ? path : source_name(source);
}

/* ---- writing ---- */

static void put_line(struct setup *setup, const char *word, int s, int kind, const char *file, const char *text)
{
	struct buf line = BUF_INIT;

	if (setup->journal < 0)
		return;
	buf_printf(&line, "%s %d", word, s);
	if (file)
		buf_printf(&line, " %d %zu %s", kind, strlen(file), file);
	buf_printf(&line, " %zu ", strlen(text));
	buf_puts(&line, text);
	buf_putc(&line, '\n');
	/* Where that fails, a kill leaves more behind than it should, and nothing else is different. */
	if (!buf_failed(&line))
		(void)!write(setup->journal, line.data, line.len);
	buf_fini(&line);
}

void setup_journal_begin(struct setup *setup)
{
	char place[128], hidden[sizeof(place) + 16], tree[PATH_MAX];
	int dir;

	if (!setup->files || !setup->how.fresh || (dir = open_place(true, place)) < 0)
		return;
	close(dir);
	/* Under its name it is locked from the beginning: one that is not is a dead one's. */
	snprintf(hidden, sizeof(hidden), "%s/.%d", place, (int)getpid());
	snprintf(setup->journal_name, sizeof(setup->journal_name), "%s/%d-%llx", place, (int)getpid(), (unsigned long long)mono_ns());
	setup->journal = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (setup->journal >= 0 && (!lock(setup->journal, F_SETLK) || rename(hidden, setup->journal_name))) {
		close(setup->journal);
		setup->journal = -1;
		unlink(hidden);
	}
	if (setup->journal < 0)
		return;
	put_line(setup, "tree", 0, 0, NULL, tree_of(setup->source, tree));
	for (int s = 0; s < setup->scopes.n; s++) {
		const struct scope *scope = &setup->scopes.scope[s];

		put_line(setup, "scope", s, 0, NULL, scope->instance ? scope->instance : "");
		for (int i = scope->first; i < scope->end; i++)
			if (scope_is(&setup->opts->items[i], "event"))
				put_line(setup, "event", s, 0, NULL, setup->opts->items[i].value);
	}
}

void setup_journal_made(struct setup *setup, int s)
{
	put_line(setup, "made", s, 0, NULL, setup->scopes.scope[s].instance);
}

void setup_journal_top(struct setup *setup, int s)
{
	put_line(setup, "top", s, 0, NULL, "");
}

void setup_journal_on(struct setup *setup, int s)
{
	put_line(setup, "on", s, 0, NULL, setup->buffers[s].events);
}

void setup_journal_keep(struct setup *setup, const struct setup_kept *kept)
{
	put_line(setup, "keep", kept->scope, (int)kept->kind, kept->file, kept->text);
}

void setup_journal_forget(struct setup *setup)
{
	put_line(setup, "forget", 0, 0, NULL, "");
}

void setup_journal_end(struct setup *setup)
{
	if (setup->journal < 0)
		return;
	unlink(setup->journal_name);
	setup_watch_end(setup);
	close(setup->journal);
	setup->journal = -1;
}

/* ---- reading ---- */

struct reading {
	char *at, *end;
	struct setup *setup;
	struct opts opts;
	int room;		/* of its items */
	bool is_of_tree;
};

static bool take_number(struct reading *in, long *number)
{
	char *end;

	if (in->at >= in->end)
		return false;
	*number = strtol(in->at, &end, 10);
	if (end == in->at || end >= in->end || (*end != ' ' && *end != '\n'))
		return false;
	in->at = end + 1;
	return *number >= -1;
}

/* Its length, and as many bytes, which end where they lie. */
static char *take_text(struct reading *in)
{
	char *text;
	long len;

	if (!take_number(in, &len) || len < 0 || len > in->end - in->at - 1)
		return NULL;
	text = in->at;
	in->at += len;
	*in->at++ = '\0';
	return text;
}

static bool take_word(struct reading *in, char word[8])
{
	size_t n = 0;

	while (in->at < in->end && *in->at != ' ' && n < 7)
		word[n++] = *in->at++;
	word[n] = '\0';
	return in->at < in->end && *in->at++ == ' ';
}

/* Scopes come in their order, and all before anything else. */
static bool add_scope(struct reading *in, long s, const char *instance)
{
	struct setup *setup = in->setup;
	struct scope *scopes = realloc(setup->scopes.scope, (size_t)(s + 1) * sizeof(*scopes));
	struct setup_buffer *buffers = realloc(setup->buffers, (size_t)(s + 1) * sizeof(*buffers));

	setup->scopes.scope = scopes ? scopes : setup->scopes.scope;
	setup->buffers = buffers ? buffers : setup->buffers;
	if (s != setup->scopes.n || !scopes || !buffers)
		return false;
	scopes[s] = (struct scope){ *instance ? instance : NULL, in->opts.nitems, in->opts.nitems };
	buffers[s] = (struct setup_buffer){ .made = false };
	setup->scopes.n++;
	return true;
}

static bool add_event(struct reading *in, long s, const char *name)
{
	static const struct opt event = { 'e', "event", "", "" };

	if (in->opts.nitems == in->room || s != in->setup->scopes.n - 1)
		return false;
	in->opts.items[in->opts.nitems++] = (struct opts_item){ &event, name };
	in->setup->scopes.scope[s].end = in->opts.nitems;
	return true;
}

static bool add_kept(struct setup *setup, long s, long kind, const char *file, const char *text)
{
	struct setup_kept *more = realloc(setup->kept, (setup->nkept + 1) * sizeof(*more));

	if (!more)
		return false;
	setup->kept = more;
	more[setup->nkept] = (struct setup_kept){ (int)s, strdup(file), strdup(text), (enum setup_keep)kind };
	setup->nkept++;
	return more[setup->nkept - 1].file && more[setup->nkept - 1].text;
}

/* One line; false at the end, and at one that is torn. */
static bool take_line(struct reading *in)
{
	struct setup *setup = in->setup;
	char word[8], *text, *file = NULL;
	long s, kind = 0;
	bool keep;

	if (!take_word(in, word) || !take_number(in, &s))
		return false;
	keep = !strcmp(word, "keep");
	if (keep && (!take_number(in, &kind) || kind > KEEP_AHEAD || !(file = take_text(in))))
		return false;
	text = take_text(in);
	if (!text)
		return false;
	if (!strcmp(word, "tree")) {
		char tree[PATH_MAX];

		in->is_of_tree = !strcmp(text, tree_of(setup->source, tree));
		return in->is_of_tree;
	}
	if (!strcmp(word, "scope"))
		return add_scope(in, s, text);
	if (keep && s >= SETUP_TOP && s < setup->scopes.n)
		return add_kept(setup, s, kind, file, text);
	if (s < 0 || s >= setup->scopes.n)
		return false;
	if (!strcmp(word, "event"))
		return add_event(in, s, text);
	if (!strcmp(word, "made") || !strcmp(word, "top")) {
		setup->buffers[s].made = *word == 'm';
		setup->scopes.scope[s].instance = *word == 'm' ? text : NULL;
	} else if (!strcmp(word, "forget") && setup->nkept) {
		setup_forget(setup);
	} else if (!strcmp(word, "on")) {
		free(setup->buffers[s].events);
		setup->buffers[s].events = strdup(text);
		return setup->buffers[s].events;
	}
	return true;
}

/* What the text says. False: it is about another tree. reading_fini() in any case. */
static bool take_text_of(struct reading *in, struct source *source, char *text, size_t len)
{
	struct setup *setup = calloc(1, sizeof(*setup));

	*in = (struct reading){ .at = text, .end = text + len, .room = 4096, .setup = setup };
	if (!setup)
		return false;
	*setup = (struct setup){ .opts = &in->opts, .source = source, .files = true, .journal = -1 };
	in->opts.items = calloc((size_t)in->room, sizeof(*in->opts.items));
	while (in->opts.items && in->at < in->end && take_line(in))
		;
	return in->is_of_tree;
}

static void reading_fini(struct reading *in)
{
	setup_close(in->setup);
	opts_fini(&in->opts);
}

/* Takes back what the text says. False: it is about another tree. */
static bool take_back(struct source *source, char *text, size_t len)
{
	struct reading in;
	bool ours = take_text_of(&in, source, text, len);

	if (ours)
		setup_undo(in.setup, NULL);
	reading_fini(&in);
	return ours;
}

/* Its bytes, yours to free, and how many; NULL: it is no journal. */
static char *read_file(int fd, ssize_t *n)
{
	struct stat st;
	char *text;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size >= (off_t)MAX_BYTES || !(text = malloc((size_t)st.st_size + 1)))
		return NULL;
	*n = read(fd, text, (size_t)st.st_size);
	text[*n > 0 ? *n : 0] = '\0';
	return text;
}

static int open_one(int dir, const char *name)
{
	return openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

/* One file: 1 when its writer is dead and what it left is taken back. */
static int sweep_one(struct source *source, int dir, const char *name)
{
	int fd = open_one(dir, name), done = 0;
	char *text;
	ssize_t n;

	if (fd < 0)
		return 0;
	if (lock(fd, F_GETLK) && (text = read_file(fd, &n))) {
		done = n > 0 && take_back(source, text, (size_t)n);
		if (done || n == 0)
			unlinkat(dir, name, 0);
		free(text);
	}
	close(fd);
	return done;
}

static bool is_instance(const struct setup *setup, int s, const char *name)
{
	const char *own = setup_scope(setup, s)->instance;

	return own && name ? !strcmp(own, name) : !own && !name;
}

/* Does the text tell of a recorder of that buffer: one who has made it, or has kept what it was like? */
static bool records(struct source *source, char *text, size_t len, const char *instance)
{
	struct reading in;
	bool does = false;

	if (take_text_of(&in, source, text, len)) {
		const struct setup *setup = in.setup;

		for (int s = 0; s < setup->scopes.n; s++)
			does |= setup->buffers[s].made && is_instance(setup, s, instance);
		for (size_t i = 0; i < setup->nkept; i++)
			does |= !strcmp(setup->kept[i].file, "tracing_on") && is_instance(setup, setup->kept[i].scope, instance);
	}
	reading_fini(&in);
	return does;
}

/* Locks of our own do not show. */
static bool is_others(const char *name)
{
	return *name != '.' && atol(name) != (long)getpid();
}

int setup_journal_alone(struct setup *setup, int s, struct err *err)
{
	const char *instance = setup_scope(setup, s)->instance;
	const struct dirent *entry;
	char place[128];
	int fd = setup->journal < 0 ? -1 : open_place(false, place), r = 0;
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && !r && (entry = readdir(dir))) {
		int one = is_others(entry->d_name) ? open_one(dirfd(dir), entry->d_name) : -1;
		char *text = NULL;
		ssize_t n;

		if (one >= 0 && !lock(one, F_GETLK) && (text = read_file(one, &n)) && n > 0 &&
		    records(setup->source, text, (size_t)n, instance))
			r = err_set(err, -EBUSY, "%.60s is being recorded by process %ld, and hands its pages out only once",
				    instance ? instance : "the top buffer", atol(entry->d_name));
		free(text);
		if (one >= 0)
			close(one);
	}
	if (dir)
		closedir(dir);
	return r;
}

int setup_journal_sweep(struct source *source)
{
	const struct dirent *entry;
	char place[128];
	int fd = open_place(false, place), turn = fd >= 0 ? take_turn(fd) : -1, n = 0;
	DIR *dir = turn >= 0 ? fdopendir(fd) : NULL;

	if (fd >= 0 && !dir)
		close(fd);
	while (dir && (entry = readdir(dir)))
		if (is_others(entry->d_name))
			n += sweep_one(source, dirfd(dir), entry->d_name);
	if (dir)
		closedir(dir);
	if (turn >= 0)
		close(turn);
	return n;
}
