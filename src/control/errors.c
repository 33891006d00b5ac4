/*
 * control/errors: see errors.h.
 *
 *   [   12.345678] events/shop/enable: error: 'x' is no number
 *     Command: x
 *              ^
 */
#include "control/errors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ERRORS_SHOWN 8
#define ERRORS_MAX (STATE_BUFFERS_MAX * ERRORS_SHOWN)
#define LOCK_TRIES 100
#define ERRORS_MAGIC 0x74726f7272655352ull

struct entry {
	uint64_t magic;
	uint64_t born;		/* of the buffer that it is about */
	uint64_t number;	/* order of arrival; 0: nothing is here */
	uint64_t mono;
	uint32_t pos;
	uint32_t reserved;
	char where[160];
	char message[208];
	char command[1024];
};
static_assert(sizeof(struct entry) == 1432, "entry");

/* Whoever keeps the lock for ever keeps nobody from going on. */
static bool lock(int fd)
{
	struct timespec pause = { 0, 1000000 };

	for (int i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

/* The file, locked, with all that is in it. The caller closes it. Root makes none in the directory of another. */
static int load(const struct control *control, bool create, struct entry *entries)
{
	int fd = openat(control->dir.dir, "errors", O_RDWR | O_CLOEXEC | O_NOFOLLOW |
			(create && geteuid() == control->dir.uid ? O_CREAT : 0), 0600);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != control->dir.uid || !lock(fd)) {
		close(fd);
		return -1;
	}
	n = pread(fd, entries, ERRORS_MAX * sizeof(*entries), 0);
	memset((char *)entries + (n > 0 ? n : 0), 0, ERRORS_MAX * sizeof(*entries) - (size_t)(n > 0 ? n : 0));
	for (int i = 0; i < ERRORS_MAX; i++) {
		entries[i].where[sizeof(entries[i].where) - 1] = '\0';
		entries[i].message[sizeof(entries[i].message) - 1] = '\0';
		entries[i].command[sizeof(entries[i].command) - 1] = '\0';
		if (entries[i].magic != ERRORS_MAGIC)
			entries[i].number = 0;
	}
	return fd;
}

static void store(int fd, const struct entry *entries, int i)
{
	if (pwrite(fd, &entries[i], sizeof(entries[i]), (off_t)((size_t)i * sizeof(entries[i]))) < 0)
		return;
}

static void put_clean(char *to, size_t size, const char *text, size_t len)
{
	size_t n = 0;

	for (; n + 1 < size && n < len; n++)
		to[n] = (unsigned char)text[n] < ' ' || text[n] == 0x7f ? ' ' : text[n];
	while (n && to[n - 1] == ' ')
		n--;
	to[n] = '\0';
}

static void fill(struct entry *entry, uint64_t born, const char *where, const char *message, const char *command,
		 size_t command_len, uint32_t pos)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	entry->magic = ERRORS_MAGIC;
	entry->born = born;
	entry->mono = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	entry->pos = pos;
	put_clean(entry->where, sizeof(entry->where), where, strlen(where));
	put_clean(entry->message, sizeof(entry->message), message, strlen(message));
	put_clean(entry->command, sizeof(entry->command), command, command_len);
}

/* Where the next one goes: a buffer that has its share gives up its own oldest, so that none pushes out another's. */
static int choose(const struct entry *entries, uint64_t born, uint64_t *newest)
{
	int oldest = 0, own = -1, nown = 0;

	*newest = 0;
	for (int i = 0; i < ERRORS_MAX; i++) {
		if (entries[i].number < entries[oldest].number)
			oldest = i;
		if (entries[i].number > *newest)
			*newest = entries[i].number;
		if (!entries[i].number || entries[i].born != born)
			continue;
		nown++;
		if (own < 0 || entries[i].number < entries[own].number)
			own = i;
	}
	return nown < ERRORS_SHOWN ? oldest : own;
}

static void add(const struct node_request *request, const char *where, const char *message, const char *command,
		size_t command_len, uint32_t pos)
{
	struct entry *entries = calloc(ERRORS_MAX, sizeof(*entries));
	int place, fd = entries ? load(request->control, true, entries) : -1;
	uint64_t newest;

	if (fd >= 0) {
		place = choose(entries, request->born, &newest);
		fill(&entries[place], request->born, where, message, command, command_len, pos);
		entries[place].number = newest + 1;
		store(fd, entries, place);
		close(fd);
	}
	free(entries);
}

void control_errors_add(const struct node_request *request, const char *path, const struct err *err)
{
	add(request, path, err->text, request->text, request->len, err->pos > 0 ? (uint32_t)err->pos : 0);
}

void control_errors_add_spec(const struct node_request *request)
{
	const struct spec_error *error = &request->error;

	if (error->message)
		add(request, error->location, error->message, error->command.data ? error->command.data : "",
		    error->command.len, error->pos);
}

void control_errors_note(struct control *control, const char *where, const char *command, const struct err *err)
{
	struct node_request request = { .control = control };

	if (control_follow(control, NULL))
		return;
	request.born = control->state.buffers[0].born;
	add(&request, where, err->text, command, strlen(command), 0);
}

void control_errors_forget(const struct control *control)
{
	(void)unlinkat(control->dir.dir, "errors", 0);
}

void control_errors_clear(const struct control *control, uint64_t born)
{
	struct entry *entries = calloc(ERRORS_MAX, sizeof(*entries));
	int fd = entries ? load(control, false, entries) : -1;

	for (int i = 0; fd >= 0 && i < ERRORS_MAX; i++) {
		if (!entries[i].number || entries[i].born != born)
			continue;
		memset(&entries[i], 0, sizeof(entries[i]));
		store(fd, entries, i);
	}
	if (fd >= 0)
		close(fd);
	free(entries);
}

static int entry_compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static void put(struct buf *out, const struct entry *entry)
{
	buf_printf(out, "[%5" PRIu64 ".%06" PRIu64 "] %s: error: %s\n", entry->mono / 1000000000u,
		   entry->mono / 1000 % 1000000, entry->where, entry->message);
	buf_printf(out, "  Command: %s\n", entry->command);
	buf_printf(out, "%*s^\n", 11 + (int)(entry->pos < sizeof(entry->command) ? entry->pos : 0), "");
}

int node_errors_read(struct node_request *request, struct err *err)
{
	struct entry *entries = calloc(ERRORS_MAX, sizeof(*entries));
	int n = 0, fd = entries ? load(request->control, false, entries) : -1;

	if (!entries)
		return err_set(err, -ENOMEM, "out of memory");
	if (fd >= 0)
		close(fd);
	for (int i = 0; fd >= 0 && i < ERRORS_MAX; i++)
		if (entries[i].number && entries[i].born == request->born)
			entries[n++] = entries[i];
	if (n)
		qsort(entries, (size_t)n, sizeof(*entries), entry_compare);
	for (int i = n > ERRORS_SHOWN ? n - ERRORS_SHOWN : 0; i < n; i++)
		put(&request->out, &entries[i]);
	free(entries);
	return 0;
}

/* Only `>` does something. */
int node_errors_write(struct node_request *request, struct err *err)
{
	(void)err;
	if (request->trunc)
		control_errors_clear(request->control, request->born);
	return 0;
}
