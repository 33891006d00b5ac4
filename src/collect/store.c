/*
 * collect/store: see store.h.
 */
#include "collect/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/trust.h"

#define NOTE_MAX 2048
#define TRIES 100

int store_open(struct store *store, const char *path, bool make, struct err *err)
{
	*store = (struct store){ .dir = -1 };
	if (make && mkdir(path, 0755) && errno != EEXIST)
		return err_set(err, -errno, "cannot make %.300s: %s", path, strerror(errno));
	store->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	store->path = strdup(path);
	if (store->dir < 0 || !store->path)
		return err_set(err, errno ? -errno : -ENOMEM, "%.300s: %s", path, strerror(errno ? errno : ENOMEM));
	return 0;
}

void store_close(struct store *store)
{
	if (store->dir >= 0)
		close(store->dir);
	free(store->path);
	*store = (struct store){ .dir = -1 };
}

int store_board(const struct store *store, const char *board, struct err *err)
{
	int fd;

	if (!trust_is_name(board))
		return err_set(err, -EINVAL, "'%.80s' is no name", board);
	if (mkdirat(store->dir, board, 0755) && errno != EEXIST)
		return err_set(err, -errno, "cannot make %.200s/%s: %s", store->path, board, strerror(errno));
	fd = openat(store->dir, board, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_set(err, -errno, "%.200s/%s: %s", store->path, board, strerror(errno)) : fd;
}

/* ---- what is known ---- */

static void note_name(const uint8_t recording[16], char name[48], const char *behind)
{
	*name++ = '.';
	for (int i = 0; i < 16; i++, name += 2)
		sprintf(name, "%02x", recording[i]);
	strcpy(name, behind);
}

static bool parse_id(const char *name, uint8_t recording[16])
{
	if (*name != '.' || strlen(name) != 33 || strspn(name + 1, "0123456789abcdef") != 32)
		return false;
	for (int i = 0; i < 16; i++)
		sscanf(name + 1 + 2 * i, "%2hhx", &recording[i]);
	return true;
}

static void parse_line(char *line, struct store_record *out)
{
	char *value = strchr(line, ' ');
	const struct {
		const char *word;
		uint64_t *to;
	} numbers[] = {
		{ "at", &out->at }, { "events", &out->events }, { "lost", &out->lost }, { "bytes", &out->bytes }, { "error", &out->error },
		{ "began", (uint64_t *)&out->began }, { "changed", (uint64_t *)&out->changed }, { "offset", (uint64_t *)&out->offset },
	};
	const struct {
		const char *word;
		uint32_t *to;
	} small[] = { { "generation", &out->generation }, { "lanes", &out->nr_lanes } };

	if (!value)
		return;
	*value++ = '\0';
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (!strcmp(line, numbers[i].word))
			*numbers[i].to = strtoull(value, NULL, 10);
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++)
		if (!strcmp(line, small[i].word))
			*small[i].to = (uint32_t)strtoul(value, NULL, 10);
	if (!strcmp(line, "offset"))
		out->offset = strtoll(value, NULL, 10);
	if (!strcmp(line, "file") && !strchr(value, '/') && *value != '.')
		snprintf(out->file, sizeof(out->file), "%s", value);
	if (!strcmp(line, "stands"))
		out->stands = !strcmp(value, "done") ? DESK_DONE : DESK_OPEN;
	if (!strcmp(line, "ended"))
		out->ended = true;
	if (!strcmp(line, "more-lost"))
		out->lost_more = true;
}

static int read_note(int board, const char *name, struct store_record *out, struct err *err)
{
	char text[NOTE_MAX], *at = text, *line;
	int fd = openat(board, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "%s: %s", name, strerror(errno));
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 0)
		return err_set(err, -errno, "%s: %s", name, strerror(errno));
	text[n] = '\0';
	out->stands = DESK_OPEN;
	out->error = UINT64_MAX;
	while ((line = strsep(&at, "\n")))
		parse_line(line, out);
	return *out->file ? 1 : 0;
}

int store_find(struct store_record *out, int board, const uint8_t recording[16], struct err *err)
{
	char name[48];

	*out = (struct store_record){ .error = UINT64_MAX };
	memcpy(out->recording, recording, sizeof(out->recording));
	note_name(recording, name, "");
	return read_note(board, name, out, err);
}

int store_put(int board, const struct store_record *record, struct err *err)
{
	char name[48], temp[48], text[NOTE_MAX];
	int fd, n, r = 0;

	note_name(record->recording, name, "");
	note_name(record->recording, temp, ".new");
	n = snprintf(text, sizeof(text),
		     "file %s\nstands %s\n%s%sgeneration %" PRIu32 "\nlanes %" PRIu32 "\nat %" PRIu64 "\nevents %" PRIu64 "\nlost %" PRIu64
		     "\nbytes %" PRIu64 "\noffset %" PRId64 "\nerror %" PRIu64 "\nbegan %" PRId64 "\nchanged %" PRId64 "\n",
		     record->file, record->stands == DESK_DONE ? "done" : "open", record->ended ? "ended yes\n" : "",
		     record->lost_more ? "more-lost yes\n" : "", record->generation, record->nr_lanes, record->at, record->events,
		     record->lost, record->bytes, record->offset, record->error, record->began, record->changed);
	unlinkat(board, temp, 0);
	fd = openat(board, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		r = errno ? -errno : -ENOSPC;
	if (fd >= 0 && close(fd) && !r)
		r = -errno;
	if (!r && renameat(board, temp, board, name))
		r = -errno;
	if (r)
		unlinkat(board, temp, 0);
	return r ? err_set(err, r, "what is known of a recording cannot be written: %s", strerror(-r)) : 0;
}

void store_forget(int board, const struct store_record *record)
{
	char name[48];

	note_name(record->recording, name, ".bases");
	unlinkat(board, name, 0);
	note_name(record->recording, name, "");
	unlinkat(board, name, 0);
}

void store_drop(int board, const struct store_record *record)
{
	unlinkat(board, record->file, 0);
	store_forget(board, record);
}

bool store_drop_empty(int board, const struct store_record *record)
{
	struct stat st;

	if (record->generation || fstatat(board, record->file, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || st.st_size)
		return false;
	store_drop(board, record);
	return true;
}

int store_bases(int board, const struct store_record *record, struct err *err)
{
	char name[48];
	int fd;

	note_name(record->recording, name, ".bases");
	fd = openat(board, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? err_set(err, -errno, "%s: %s", name, strerror(errno)) : fd;
}

/* ---- files ---- */

/* The next file of a recording is seen when it has taken the old one's place. */
static void hide(const char *file, char hidden[72])
{
	snprintf(hidden, 72, ".%.64s.next", file);
}

void store_show(int board, const struct store_record *record)
{
	char hidden[72];

	hide(record->file, hidden);
	if (faccessat(board, record->file, F_OK, AT_SYMLINK_NOFOLLOW))
		renameat(board, hidden, board, record->file);
}

int store_create(int board, const struct store_record *record, char file[64], struct err *err)
{
	time_t began = (time_t)record->began;
	char stem[24], part[12] = "", try[8] = "";
	struct tm tm;
	int fd = -1;

	localtime_r(&began, &tm);
	strftime(stem, sizeof(stem), "%Y-%m-%dT%H-%M-%S", &tm);
	if (record->generation)
		snprintf(part, sizeof(part), "-%u", record->generation + 1);
	for (int i = 0; i < TRIES && fd < 0; i++) {
		char hidden[72];

		if (i)
			snprintf(try, sizeof(try), ".%d", i);
		snprintf(file, 64, "%s%s%s.dat", stem, try, part);
		hide(file, hidden);
		/* One of somebody who was killed on the way to it. */
		unlinkat(board, hidden, 0);
		if (record->generation && !faccessat(board, file, F_OK, AT_SYMLINK_NOFOLLOW))
			continue;
		fd = openat(board, record->generation ? hidden : file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0 && errno != EEXIST)
			break;
	}
	if (fd < 0)
		return err_set(err, -errno, "no file for the recording: %s", strerror(errno));
	flock(fd, LOCK_EX | LOCK_NB);
	return fd;
}

int store_reopen(int board, const struct store_record *record, struct err *err)
{
	int fd;

	store_show(board, record);
	fd = openat(board, record->file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", record->file, strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		close(fd);
		return err_set(err, -EBUSY, "%s: somebody writes it", record->file);
	}
	return fd;
}

/* ---- all of them ---- */

static uint64_t bytes_of(const struct stat *st)
{
	return (uint64_t)st->st_blocks * 512;
}

static bool is_live(int board, const char *file)
{
	int fd = openat(board, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	bool live = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return live;
}

struct one {
	struct store_record record;
	uint64_t size;
	bool live, noted;
};

struct list {
	struct one *all;
	size_t n;
};

static struct one *add(struct list *list)
{
	struct one *more = realloc(list->all, (list->n + 1) * sizeof(*more));

	if (!more)
		return NULL;
	list->all = more;
	more[list->n] = (struct one){ .record.error = UINT64_MAX };
	return &more[list->n++];
}

static int each_name(int dir, int (*take)(void *ctx, int dir, const char *name), void *ctx)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	DIR *names = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;

	if (!names && fd >= 0)
		close(fd);
	while (names && !r && (entry = readdir(names)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			r = take(ctx, dir, entry->d_name);
	if (names)
		closedir(names);
	return r;
}

static int take_file(void *ctx, int board, const char *name)
{
	struct list *list = ctx;
	const char *dot = strrchr(name, '.');
	struct tm tm = { .tm_isdst = -1 };
	struct stat st;
	struct one *one;

	if (*name == '.' || !dot || strcmp(dot, ".dat") || strlen(name) >= sizeof(one->record.file) ||
	    fstatat(board, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	one = add(list);
	if (!one)
		return -ENOMEM;
	strcpy(one->record.file, name);
	one->record.began = one->record.changed = st.st_mtime;
	if (strptime(name, "%Y-%m-%dT%H-%M-%S", &tm))
		one->record.began = mktime(&tm);
	one->size = bytes_of(&st);
	one->live = is_live(board, name);
	return 0;
}

/* What is known of it, beside the file it is about. */
static int take_note(void *ctx, int board, const char *name)
{
	struct store_record record = { .error = UINT64_MAX };
	struct list *list = ctx;
	char hidden[72];

	if (!parse_id(name, record.recording) || read_note(board, name, &record, NULL) <= 0)
		return 0;
	for (size_t i = 0; i < list->n; i++) {
		if (strcmp(list->all[i].record.file, record.file))
			continue;
		list->all[i].record = record;
		list->all[i].noted = true;
		return 0;
	}
	/* Its file is gone, unless somebody is about to show it, or has just done so: in this order nothing is overlooked. */
	hide(record.file, hidden);
	if (faccessat(board, hidden, F_OK, AT_SYMLINK_NOFOLLOW) && faccessat(board, record.file, F_OK, AT_SYMLINK_NOFOLLOW))
		store_forget(board, &record);
	return 0;
}

/* The parts of a recording in their order: their names but for what all end with. */
static int by_name(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	char one[64], other[64];

	snprintf(one, sizeof(one), "%.*s", (int)strlen(x->record.file) - 4, x->record.file);
	snprintf(other, sizeof(other), "%.*s", (int)strlen(y->record.file) - 4, y->record.file);
	return strverscmp(one, other);
}

/* Whatever was written to last is the youngest. */
static int by_age(const void *a, const void *b)
{
	const struct one *x = a, *y = b;

	return x->record.changed != y->record.changed ? (x->record.changed > y->record.changed) - (x->record.changed < y->record.changed) :
							by_name(a, b);
}

static int list_board(int board, const char *name, struct list *list)
{
	size_t before = list->n;
	struct list own = { 0 };
	int r = each_name(board, take_file, &own);

	if (!r)
		r = each_name(board, take_note, &own);
	if (own.n)
		qsort(own.all, own.n, sizeof(*own.all), by_name);
	for (size_t i = 0; !r && i < own.n; i++) {
		struct one *one = add(list);

		if (!one)
			r = -ENOMEM;
		else
			*one = own.all[i];
	}
	for (size_t i = before; i < list->n; i++)
		snprintf(list->all[i].record.board, sizeof(list->all[i].record.board), "%s", name);
	free(own.all);
	return r;
}

static int take_board(void *ctx, int dir, const char *name)
{
	int board, r;

	if (!trust_is_name(name))
		return 0;
	board = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (board < 0)
		return 0;
	r = list_board(board, name, ctx);
	close(board);
	return r;
}

static int by_board(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int names = strcmp(x->record.board, y->record.board);

	return names ? names : by_name(a, b);
}

static int list_all(const struct store *store, struct list *list, struct err *err)
{
	int r = each_name(store->dir, take_board, list);

	return r ? err_set(err, r, "%.300s: %s", store->path, strerror(-r)) : 0;
}

int store_walk(const struct store *store, int (*each)(void *ctx, const struct store_record *record, bool live, uint64_t size), void *ctx,
	       struct err *err)
{
	struct list list = { 0 };
	int r = list_all(store, &list, err);

	if (!r && list.n)
		qsort(list.all, list.n, sizeof(*list.all), by_board);
	for (size_t i = 0; !r && i < list.n; i++)
		r = each(ctx, &list.all[i].record, list.all[i].live, list.all[i].size);
	free(list.all);
	return r;
}

/* ---- what was left behind by whoever was killed ---- */

#define LEFT_SECONDS 60

static bool ends_with(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* Hidden, and nobody is about to show it, or to write it. */
static int drop_left(void *ctx, int board, const char *name)
{
	struct stat st;

	(void)ctx;
	if (*name != '.' || (!ends_with(name, ".dat.next") && !ends_with(name, ".new")) ||
	    fstatat(board, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || time(NULL) - st.st_mtime < LEFT_SECONDS ||
	    is_live(board, name))
		return 0;
	unlinkat(board, name, 0);
	return 0;
}

/* One that took its place, and did not come to be shown. */
static int show_left(void *ctx, int board, const char *name)
{
	struct store_record record = { .error = UINT64_MAX };

	(void)ctx;
	if (parse_id(name, record.recording) && read_note(board, name, &record, NULL) > 0)
		store_show(board, &record);
	return 0;
}

static int tidy_board(void *ctx, int dir, const char *name)
{
	int board = trust_is_name(name) ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;

	(void)ctx;
	if (board < 0)
		return 0;
	each_name(board, show_left, NULL);
	each_name(board, drop_left, NULL);
	close(board);
	return 0;
}

void store_tidy(const struct store *store)
{
	each_name(store->dir, tidy_board, NULL);
}

/* ---- thinning ---- */

static void remove_one(const struct store *store, const struct one *one)
{
	int board = openat(store->dir, one->record.board, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (board < 0)
		return;
	unlinkat(board, one->record.file, 0);
	if (one->noted)
		store_forget(board, &one->record);
	close(board);
}

static uint64_t sum_of(const struct list *list, const char *board)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < list->n; i++)
		if (!board || !strcmp(list->all[i].record.board, board))
			sum += list->all[i].size;
	return sum;
}

int store_thin(const struct store *store, const struct store_limits *limits, struct err *err)
{
	int64_t now = (int64_t)time(NULL);
	struct list list = { 0 };
	int r = list_all(store, &list, err), n = 0;

	if (!r && list.n)
		qsort(list.all, list.n, sizeof(*list.all), by_age);
	for (size_t i = 0; !r && i < list.n; i++) {
		struct one *one = &list.all[i];
		bool old = limits->age && now - one->record.changed > limits->age;
		bool much = limits->size && sum_of(&list, NULL) > limits->size;
		bool counts = !limits->board || !strcmp(one->record.board, limits->board);
		bool more = limits->quota && counts && sum_of(&list, one->record.board) > limits->quota;

		if (one->live || (!old && !much && !more) ||
		    (limits->spare && one->noted && !memcmp(one->record.recording, limits->spare, sizeof(one->record.recording))))
			continue;
		remove_one(store, one);
		one->size = 0;
		n++;
	}
	free(list.all);
	return r ? r : n;
}

static int add_size(void *ctx, int board, const char *name)
{
	uint64_t *sum = ctx;
	struct stat st;

	if (!fstatat(board, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
		*sum += bytes_of(&st);
	return 0;
}

static int add_hidden(void *ctx, int board, const char *name)
{
	return *name == '.' ? add_size(ctx, board, name) : 0;
}

uint64_t store_hidden(int board)
{
	uint64_t sum = 0;

	each_name(board, add_hidden, &sum);
	return sum;
}

uint64_t store_used(int board)
{
	uint64_t sum = 0;

	each_name(board, add_size, &sum);
	return sum;
}
