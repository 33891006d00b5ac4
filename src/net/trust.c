/*
 * net/trust: see trust.h.
 */
#include "net/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)

/* ---- words ---- */

bool trust_is_name(const char *name)
{
	size_t len = strlen(name);

	if (!len || len > WIRE_NAME_MAX || *name == '.' || *name == '-')
		return false;
	return strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:-") == len;
}

bool trust_is_fingerprint(const char *text)
{
	return !strncmp(text, "SHA256:", 7) && strlen(text) == FINGERPRINT_TEXT - 1 &&
	       strspn(text + 7, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") == FINGERPRINT_TEXT - 8;
}

static const struct {
	const char *word;
	unsigned int may;
} verbs[] = { { "read", TRUST_READ }, { "record", TRUST_RECORD }, { "control", TRUST_CONTROL } };

#define NR_VERBS (sizeof(verbs) / sizeof(verbs[0]))

unsigned int trust_verbs(const char *text)
{
	unsigned int may = 0;

	while (*text) {
		size_t len = strcspn(text, ","), i = 0;

		while (i < NR_VERBS && (strlen(verbs[i].word) != len || strncmp(verbs[i].word, text, len)))
			i++;
		if (i == NR_VERBS)
			return 0;
		may |= verbs[i].may;
		text += len;
		if (*text && !*++text)
			return 0;
	}
	return may;
}

void trust_print_verbs(unsigned int may, char text[24])
{
	*text = '\0';
	for (size_t i = 0; i < NR_VERBS; i++)
		if (may & verbs[i].may)
			sprintf(text + strlen(text), "%s%s", *text ? "," : "", verbs[i].word);
}

/* ---- files ---- */

int trust_dir(char *path, size_t size, struct err *err)
{
	const char *said = getenv("RINGSIDE_KEYS"), *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
	int n;

	if (said && *said)
		n = snprintf(path, size, "%s", said);
	else if (!geteuid())
		n = snprintf(path, size, "/etc/ringside");
	else if (config && *config == '/')
		n = snprintf(path, size, "%s/ringside", config);
	else if (home && *home == '/')
		n = snprintf(path, size, "%s/.config/ringside", home);
	else
		return err_set(err, -ENOENT, "where are keys? Neither $HOME nor $RINGSIDE_KEYS says so");
	return n < (int)size ? 0 : err_set(err, -ENAMETOOLONG, "the path of the keys is too long");
}

static int make_dir(const char *dir, struct err *err)
{
	char path[4096], *at;

	if (snprintf(path, sizeof(path), "%s", dir) >= (int)sizeof(path))
		return err_set(err, -ENAMETOOLONG, "%.100s...: is too long", dir);
	for (at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		mkdir(path, 0755);
		*at = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		return err_set(err, -errno, "cannot make %.300s: %s", path, strerror(errno));
	return 0;
}

/* All of a file, which only its owner may have written. 0, -errno. */
static int read_file(const char *dir, const char *name, bool secret, struct buf *out, struct err *err)
{
	char path[4096];
	struct stat st;
	int fd, r = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	/* Whoever may write there may put another file in its place. */
	if (!stat(dir, &st) && st.st_mode & 022 && !(st.st_mode & S_ISVTX))
		r = err_set(err, -EPERM, "%.300s: others may write there: `chmod go-w` keeps them out", dir);
	else if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > (off_t)FILE_MAX)
		r = err_set(err, -EBADMSG, "%.300s: is no file of ours", path);
	else if (st.st_uid != geteuid() && st.st_uid)
		r = err_set(err, -EPERM, "%.300s: belongs to somebody else", path);
	else if (st.st_mode & (secret ? 077 : 022))
		r = err_set(err, -EPERM, "%.300s: others may %s it: `chmod go-%s` keeps them out", path, secret ? "read" : "write",
			    secret ? "rwx" : "w");
	while (!r) {
		char *room = buf_room(out, 4096);

		n = room ? read(fd, room, 4096) : 0;
		if (n < 0)
			r = err_set(err, -errno, "%.300s: %s", path, strerror(errno));
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	close(fd);
	buf_add(out, "", 1);
	if (!r && buf_failed(out))
		r = err_set(err, -ENOMEM, "out of memory");
	out->len -= !buf_failed(out);
	return r;
}

/* In one step: whoever reads finds the old one or the new one. `fresh`: -EEXIST when there is one. */
static int write_file(const char *dir, const char *name, const struct buf *text, mode_t mode, bool fresh, struct err *err)
{
	char path[4096], temp[4096 + 16];
	int fd, r = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(temp, sizeof(temp), "%s.%d", path, (int)getpid());
	unlink(temp);
	fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
	if (fd < 0)
		return err_set(err, -errno, "cannot write %.300s: %s", temp, strerror(errno));
	if (write(fd, text->data, text->len) != (ssize_t)text->len || fsync(fd))
		r = err_set(err, errno ? -errno : -ENOSPC, "cannot write %.300s: %s", path, strerror(errno ? errno : ENOSPC));
	close(fd);
	if (!r && (fresh ? link(temp, path) : rename(temp, path)))
		r = err_set(err, -errno, "cannot write %.300s: %s", path, strerror(errno));
	if (r || fresh)
		unlink(temp);
	return r;
}

int trust_own(struct tls_key **out, const char *dir, bool make, struct err *err)
{
	struct buf text = BUF_INIT;
	struct err none = ERR_INIT;
	int r;

	*out = NULL;
	/* Which says why. */
	if (!tls_is_there())
		return tls_key_make(&text, err);
	r = read_file(dir, "key", true, &text, &none);
	if (r == -ENOENT && make) {
		buf_reset(&text);
		r = make_dir(dir, err);
		if (!r)
			r = tls_key_make(&text, err);
		if (!r)
			r = write_file(dir, "key", &text, 0600, true, err);
	} else if (r) {
		r = r == -ENOENT ? err_set(err, r, "%.300s/key: there is none: `ringside key` makes one", dir) :
				   err_set(err, r, "%s", none.text);
	}
	if (!r)
		r = tls_key_load(out, text.data, text.len, err);
	if (r && err && err->code && !none.code)
		err_prefix(err, "%.200s/key: ", dir);
	if (text.data)
		explicit_bzero(text.data, text.len);
	buf_fini(&text);
	return r;
}

/* ---- whom we know ---- */

static bool parse_line(char *line, struct trust *one)
{
	char *save, *name = strtok_r(line, " \t\r", &save), *fingerprint = strtok_r(NULL, " \t\r", &save);
	char *may = strtok_r(NULL, " \t\r", &save);

	if (!may || strtok_r(NULL, " \t\r", &save) || !trust_is_name(name) || !trust_is_fingerprint(fingerprint))
		return false;
	strcpy(one->name, name);
	strcpy(one->fingerprint, fingerprint);
	one->may = trust_verbs(may);
	return one->may;
}

int trust_all(struct trust **out, const char *dir, struct err *err)
{
	struct buf text = BUF_INIT;
	struct err ours = ERR_INIT;
	char *at, *line;
	int n = 0, number = 0, r = read_file(dir, "trust", false, &text, &ours);
	struct trust *all = NULL, *more;

	*out = NULL;
	if (r == -ENOENT) {
		buf_fini(&text);
		return 0;
	}
	if (r)
		err_set(err, r, "%s", ours.text);
	for (at = text.data; !r && (line = strsep(&at, "\n"));) {
		number++;
		if (!line[strspn(line, " \t\r")] || *line == '#')
			continue;
		more = realloc(all, (size_t)(n + 1) * sizeof(*all));
		if (!more)
			r = err_set(err, -ENOMEM, "out of memory");
		else if (!parse_line(line, &more[n++]))
			r = err_set(err, -EBADMSG, "%.300s/trust, line %d: NAME FINGERPRINT VERBS is needed", dir, number);
		all = more ? more : all;
	}
	buf_fini(&text);
	if (r) {
		free(all);
		return r;
	}
	*out = all;
	return n;
}

int trust_find(struct trust *out, const char *dir, const char *fingerprint, unsigned int may, struct err *err)
{
	struct trust *all;
	int n, found = -1;

	/* Without TLS nobody shows a key. */
	if (!tls_is_there())
		return 0;
	n = trust_all(&all, dir, err);
	for (int i = 0; i < n; i++)
		if (!strcmp(all[i].fingerprint, fingerprint) && (found < 0 || (!(all[found].may & may) && all[i].may & may)))
			found = i;
	if (found >= 0)
		*out = all[found];
	free(all);
	return n < 0 ? n : found >= 0;
}

int trust_named(struct trust *out, const char *dir, const char *name, struct err *err)
{
	struct trust *all;
	int n, found = 0;

	if (!tls_is_there())
		return 0;
	n = trust_all(&all, dir, err);
	for (int i = 0; i < n && !found; i++) {
		found = !strcasecmp(all[i].name, name);
		if (found)
			*out = all[i];
	}
	free(all);
	return n < 0 ? n : found;
}

static void put_line(struct buf *text, const struct trust *one)
{
	char may[24];

	trust_print_verbs(one->may, may);
	buf_printf(text, "%s %s %s\n", one->name, one->fingerprint, may);
}

/* The lines of a file that makes sense, comments among them, without `name`, or with `one` in its place. 1: there was one of that name. */
static int copy_lines(struct buf *to, struct buf *from, const char *name, const struct trust *one)
{
	char *at = from->data, *line, *copy;
	struct trust other;
	int was = 0;

	while (at && (line = strsep(&at, "\n"))) {
		copy = strdup(line);
		if (!copy)
			return -ENOMEM;
		if (line[strspn(line, " \t\r")] && *line != '#' && parse_line(copy, &other) && !strcasecmp(other.name, name)) {
			if (one && !was)
				put_line(to, one);
			was = 1;
		} else if (at || *line) {
			buf_printf(to, "%s\n", line);
		}
		free(copy);
	}
	if (one && !was)
		put_line(to, one);
	return was;
}

/* The file anew; who else does that at this moment waits. */
static int change(const char *dir, const char *name, const struct trust *one, struct err *err)
{
	struct buf text = BUF_INIT, old = BUF_INIT;
	struct err none = ERR_INIT;
	struct trust *all = NULL;
	int lock, r = make_dir(dir, err), was = 0;

	if (r)
		return r;
	lock = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0 || flock(lock, LOCK_EX))
		r = err_set(err, -errno, "%.300s: %s", dir, strerror(errno));
	if (!r)
		r = trust_all(&all, dir, err);
	if (r >= 0)
		r = read_file(dir, "trust", false, &old, &none);
	if (r < 0 && r != -ENOENT && none.code)
		err_set(err, r, "%s", none.text);
	r = r == -ENOENT ? 0 : r;
	if (r >= 0 && (was = copy_lines(&text, &old, name, one)) < 0)
		r = was;
	if (r >= 0 && buf_failed(&text))
		r = -ENOMEM;
	if (r == -ENOMEM)
		err_set(err, r, "out of memory");
	if (r >= 0 && (one || was))
		r = write_file(dir, "trust", &text, 0644, false, err);
	if (lock >= 0)
		close(lock);
	free(all);
	buf_fini(&text);
	buf_fini(&old);
	return r < 0 ? r : was;
}

int trust_put(const char *dir, const struct trust *one, struct err *err)
{
	int r = change(dir, one->name, one, err);

	return r < 0 ? r : 0;
}

int trust_drop(const char *dir, const char *name, struct err *err)
{
	return change(dir, name, NULL, err);
}

/* ---- this machine ---- */

static uint64_t mix(uint64_t sum, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[256];
	ssize_t n = fd < 0 ? 0 : read(fd, bytes, sizeof(bytes));

	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		sum = (sum ^ (uint8_t)bytes[i]) * 0x100000001b3;
	return sum;
}

uint64_t trust_machine(void)
{
	return mix(mix(0xcbf29ce484222325, "/proc/sys/kernel/random/boot_id"), "/proc/self/timens_offsets");
}

void trust_host(char name[WIRE_NAME_MAX + 1])
{
	char own[256] = "";

	if (gethostname(own, sizeof(own) - 1))
		*own = '\0';
	own[WIRE_NAME_MAX] = '\0';
	strcpy(name, trust_is_name(own) ? own : "board");
}
