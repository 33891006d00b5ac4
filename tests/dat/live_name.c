/*
 * A growing trace file takes its place when it tells something for the first time, and not before: what was there is
 * replaced, a link is followed, and what is no file is refused, in words, with nothing left behind.
 */
#include <fcntl.h>

#include "lived_kill.h"

static char scratch[512];

static const char *path_of(const char *name)
{
	static char path[1024];

	snprintf(path, sizeof(path), "%s/%s", scratch, name);
	return path;
}

static int files_in_scratch(void)
{
	DIR *dir = opendir(scratch);
	int n = 0;

	CHECK(dir, "%s", scratch);
	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void refused(const struct dat_live_how *how, const char *path, const char *words)
{
	int n = files_in_scratch();
	struct err err = ERR_INIT;
	struct dat_live *live;

	CHECK(dat_live_open(&live, path, how, &err) < 0 && !live, "it was taken: %s", words);
	CHECK(strstr(err.text, words), "%s", err.text);
	CHECK(files_in_scratch() == n, "something was left");
}

static void refusals(void)
{
	static const struct dat_write_buffer text[] = { { .name = "", .text = true } };
	const struct dat_live_how good = { .page_size = 4096, .nr_cpus = 1 };
	struct dat_live_how how = good;

	refused(&good, scratch, "no regular file");
	refused(&good, "/dev/null", "no regular file");
	CHECK(!mkfifo(path_of("fifo"), 0600), "%s", strerror(errno));
	refused(&good, path_of("fifo"), "no regular file");
	CHECK(!unlink(path_of("fifo")), "%s", strerror(errno));
	refused(&good, path_of("none/x"), "No such file");
	CHECK(!mkdir(path_of("shut"), 0500), "%s", strerror(errno));
	/* To root it is open. */
	if (geteuid())
		refused(&good, path_of("shut/x"), "denied");
	CHECK(!rmdir(path_of("shut")), "%s", strerror(errno));
	how.page_size = 5000;
	refused(&how, path_of("x"), "5000");
	how = good, how.compression = "lzma";
	refused(&how, path_of("x"), "lzma");
	how = good, how.buffers = text, how.nr_buffers = 1;
	refused(&how, path_of("x"), "text");
}

static struct lived small = { .compression = "none", .nr_buffers = 1, .nr_cpus = 1, .page_size = 4096, .batch = 2,
			      .rounds = 2 };

/* Up to the moment at which it has its name. */
static void takes_place(const char *path, const char *real)
{
	struct stat before, after;
	struct dat_live *live;
	struct err err = ERR_INIT;
	int fd = open(real, O_WRONLY | O_CREAT | O_TRUNC, 0644), n;

	CHECK(fd >= 0 && write(fd, "old\n", 4) == 4 && !close(fd) && !stat(real, &before), "%s", strerror(errno));
	n = files_in_scratch();
	small.path = path;
	live = lived_open(&small);
	CHECK(!lived_meta(&small, live) && !lived_round(&small, live, 0), "pages before anything is told");
	CHECK(!stat(real, &after) && after.st_ino == before.st_ino && after.st_size == 4, "it is another file already");
	CHECK(!dat_live_publish(live), "publish");
	CHECK(!stat(real, &after) && after.st_ino != before.st_ino, "it is the old file");
	CHECK(files_in_scratch() == n, "there is another file");
	CHECK(!dat_live_finish(live, &err), "%s", err.text);
	dat_live_close(live);
	CHECK(files_in_scratch() == n, "there is another file");
}

static void replaces(void)
{
	int counts[LIVED_LANES], firsts[LIVED_LANES];
	char real[1024], link[1024];
	struct stat st;

	snprintf(real, sizeof(real), "%s", path_of("real.dat"));
	snprintf(link, sizeof(link), "%s", path_of("link.dat"));
	takes_place(real, real);
	CHECK(!symlink("real.dat", link), "%s", strerror(errno));
	takes_place(link, real);
	CHECK(!lstat(link, &st) && S_ISLNK(st.st_mode), "the link is gone");
	dat_close(lived_read(&small, counts, firsts));
	CHECK(counts[0] == 2, "%d pages", counts[0]);
	unlink(link);
	unlink(real);
}

/* One that never told anything leaves nothing. */
static void given_up(void)
{
	struct err err = ERR_INIT;
	struct dat_live *live;
	int n = files_in_scratch();

	small.path = path_of("never.dat");
	live = lived_open(&small);
	CHECK(!lived_meta(&small, live) && !lived_round(&small, live, 0), "pages");
	dat_live_close(live);
	CHECK(files_in_scratch() == n, "something was left");

	CHECK(dat_live_close_up(path_of("never.dat"), &err) == -ENOENT, "%s", err.text);
}

/* Files of others are not touched. */
static void not_ours(void)
{
	struct dat_write_how how = { .version = 7, .long_size = 8, .page_size = 4096 };
	struct buf buf = BUF_INIT;
	struct err err = ERR_INIT;
	struct stat before, after;
	struct dat_write *w;

	for (how.version = 6; how.version <= 7; how.version++) {
		CHECK(!dat_write_open(&w, path_of("whole.dat"), &how, &err), "%s", err.text);
		made_headers(&buf, &lived_abi, 4096);
		CHECK(!dat_write_section(w, DAT_HEADER_INFO, buf.data, buf.len), "headers");
		buf_reset(&buf);
		made_events(&buf, &lived_abi);
		CHECK(!dat_write_section(w, DAT_EVENT_FORMATS, buf.data, buf.len), "events");
		buf_reset(&buf);
		CHECK(!dat_write_finish(w, &err), "%s", err.text);
		dat_write_close(w);
		CHECK(!stat(path_of("whole.dat"), &before), "no file");
		CHECK(dat_live_close_up(path_of("whole.dat"), &err) == 0, "%s", err.text);
		CHECK(!stat(path_of("whole.dat"), &after) && before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
		      before.st_mtim.tv_nsec == after.st_mtim.tv_nsec, "it was written to");
	}
	unlink(path_of("whole.dat"));
	buf_fini(&buf);
}

int main(void)
{
	const char *base = getenv("RINGSIDE_SCRATCH");

	CHECK(base, "RINGSIDE_SCRATCH is not set");
	snprintf(scratch, sizeof(scratch), "%s", base);
	refusals();
	replaces();
	given_up();
	not_ours();
	return 0;
}
