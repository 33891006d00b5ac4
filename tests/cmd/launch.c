/*
 * A program that is started to be traced: it runs when it is told to and not before, ends as it would anywhere, meets what
 * ringside met, and gets the library only where that does no harm.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/launch.h"
#include "cmd/setup.h"
#include "insist.h"

static const char *scratch, *build;

/* A path in the scratch directory; the last few stay good. */
static const char *at(const char *name)
{
	static char paths[8][300];
	static int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", scratch, name);
	return path;
}

static void put(const char *name, const char *text, mode_t mode)
{
	FILE *file = fopen(at(name), "w");

	CHECK(file && fputs(text, file) >= 0 && !fclose(file) && !chmod(at(name), mode), "%s", name);
}

static const char *got(const char *name)
{
	static char text[4096];
	FILE *file = fopen(at(name), "r");
	size_t n = file ? fread(text, 1, sizeof(text) - 1, file) : 0;

	text[n] = '\0';
	if (file)
		fclose(file);
	return text;
}

/* Compiled as what is tested was; false when these options cannot be had. */
static bool compile(const char *source, const char *program, const char *options)
{
	char line[2000];

	snprintf(line, sizeof(line), "%s -O1 -I%s/include %s -o %s %s 2>%s", getenv("CC"), getenv("RINGSIDE_SOURCE"),
		 at(source), at(program), options, at("cc.err"));
	return !system(line);
}

static int finish(struct launch *launch)
{
	int status, r;

	while (!(r = launch_poll(launch, &status)))
		usleep(1000);
	CHECK(r == 1, "%s", strerror(-r));
	launch_close(launch);
	return launch_exit_status(status);
}

/* Runs it to its end: its exit status, or -errno when it did not start. */
static int run_how(const struct launch_how *how, struct err *err)
{
	struct launch launch;
	int r = launch_start(&launch, how, err);

	if (!r)
		r = launch_go(&launch, err);
	return r ? r : finish(&launch);
}

static int run(bool preload, char *const argv[])
{
	struct launch_how how = { .argv = argv, .preload = preload };
	struct err err = ERR_INIT;
	int r = run_how(&how, &err);

	CHECK(r >= 0, "%s: %s", argv[0], err.text);
	return r;
}

#define RUN(preload, ...) run(preload, (char *[]){ __VA_ARGS__, NULL })

static void refused(const char *name, int want)
{
	char *argv[] = { (char *)name, NULL };
	struct launch_how how = { .argv = argv };
	struct err err = ERR_INIT;
	int r = run_how(&how, &err);

	CHECK(r == want, "%s: %d, not %d", name, r, want);
	CHECK(strstr(err.text, name), "'%s' does not name %s", err.text, name);
}

/* A program of a machine that nobody has: not for a shell to read. */
static void put_foreign(const char *name)
{
	Elf64_Ehdr head = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB, EV_CURRENT },
		.e_type = ET_EXEC, .e_machine = 0x7d7d, .e_version = EV_CURRENT, .e_ehsize = sizeof(head),
	};
	int fd = open(at(name), O_WRONLY | O_CREAT | O_TRUNC, 0755);

	CHECK(fd >= 0 && write(fd, &head, sizeof(head)) == (ssize_t)sizeof(head) && !close(fd), "%s", name);
}

static void check_ends(void)
{
	CHECK(RUN(false, "sh", "-c", "exit 0") == 0, "0");
	CHECK(RUN(false, "sh", "-c", "exit 7") == 7, "7");
	CHECK(RUN(false, "sh", "-c", "kill -9 $$") == 128 + 9, "killed");
	CHECK(RUN(false, "sh", "-c", "kill -15 $$") == 128 + 15, "terminated");
	put("plain", "exit 3\n", 0755);
	CHECK(RUN(false, (char *)at("plain")) == 3, "a script without a first line");
	put("data", "exit 3\n", 0644);
	refused("/nonexistent/program", -ENOENT);
	refused("no-such-program-anywhere", -ENOENT);
	refused(at("data"), -EACCES);
	refused(scratch, -EACCES);
	put("orphan", "#!/nonexistent/interpreter\n", 0755);
	refused(at("orphan"), -ENOENT);
	put_foreign("foreign");
	refused(at("foreign"), -ENOEXEC);
}

static void check_gate(void)
{
	char *argv[] = { "sh", "-c", NULL, NULL };
	struct launch_how how = { .argv = argv };
	struct err err = ERR_INIT;
	struct launch launch;
	char line[400];
	int status;

	snprintf(line, sizeof(line), "echo $$ >%s", at("ran"));
	argv[2] = line;
	CHECK(!launch_start(&launch, &how, &err), "%s", err.text);
	CHECK(launch.pid > 0 && !kill(launch.pid, 0), "it has no number");
	CHECK(launch_poll(&launch, &status) == 0, "it has ended");
	launch_close(&launch);
	CHECK(kill(launch.pid, 0) && errno == ESRCH, "it is still there");
	CHECK(access(at("ran"), F_OK), "it ran without being told to");

	CHECK(!launch_start(&launch, &how, &err), "%s", err.text);
	CHECK(!launch_go(&launch, &err), "%s", err.text);
	CHECK(!finish(&launch), "it failed");
	CHECK(atoi(got("ran")) == launch.pid, "it is another process: %s", got("ran"));
	unlink(at("ran"));

	/* Killed at the gate. */
	CHECK(!launch_start(&launch, &how, &err), "%s", err.text);
	kill(launch.pid, SIGKILL);
	CHECK(!launch_go(&launch, &err), "%s", err.text);
	CHECK(finish(&launch) == 128 + 9, "not killed");
}

/* Whoever dies before the gate is open takes the program along. */
static void check_death(void)
{
	char *argv[] = { "sh", "-c", NULL, NULL };
	struct launch_how how = { .argv = argv };
	pid_t recorder, program = 0;
	char line[400];
	int to[2], status;

	snprintf(line, sizeof(line), "echo >%s", at("ran"));
	argv[2] = line;
	CHECK(!pipe2(to, O_CLOEXEC) && !prctl(PR_SET_CHILD_SUBREAPER, 1), "%s", strerror(errno));
	recorder = fork();
	if (!recorder) {
		struct launch launch;

		if (launch_start(&launch, &how, NULL) ||
		    write(to[1], &launch.pid, sizeof(launch.pid)) != sizeof(launch.pid))
			_exit(1);
		raise(SIGKILL);
	}
	close(to[1]);
	CHECK(read(to[0], &program, sizeof(program)) == sizeof(program), "no program");
	close(to[0]);
	CHECK(waitpid(recorder, &status, 0) == recorder && WIFSIGNALED(status), "it lives");
	CHECK(waitpid(program, &status, 0) == program, "the program is nobody's: %s", strerror(errno));
	CHECK(access(at("ran"), F_OK), "it ran");
}

/* Signals are as they were before we changed them. */
static void check_signals(void)
{
	char line[400], before[200] = "";
	FILE *file = fopen("/proc/self/status", "r");
	sigset_t set;

	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, "SigBlk", 6) || !strncmp(line, "SigIgn", 6))
			strcat(before, line);
	fclose(file);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	snprintf(line, sizeof(line), "exec grep -E 'SigBlk|SigIgn' /proc/self/status >%s", at("signals"));
	CHECK(!RUN(false, "sh", "-c", line), "grep");
	CHECK(!strcmp(got("signals"), before), "'%s', not '%s'", got("signals"), before);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	signal(SIGHUP, SIG_DFL);
}

/* Tells what it was given: the variable, and how many of our libraries are in it. */
static const char probe[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"int main(int argc, char **argv)\n{\n"
	"	FILE *maps = fopen(\"/proc/self/maps\", \"r\"), *out = fopen(argv[1], \"w\");\n"
	"	const char *given = getenv(\"LD_PRELOAD\"), *dir = getenv(\"RINGSIDE_DIR\");\n"
	"	char line[4096];\n	int n = 0;\n"
	"	while (fgets(line, sizeof(line), maps))\n"
	"		n += strstr(line, \"libringside\") && strstr(line, \" 00000000 \");\n"
	"	fprintf(out, \"%s %d %s\", given ? given : \"none\", n, dir ? dir : \"none\");\n"
	"	return argc != 2 || fclose(out) ? 1 : 5;\n}\n";

/* What the program says about itself, and what is said about it; `word` NULL: nothing. */
static void expect_told(const char *program, const char *preload, int libraries, const char *word)
{
	int fd = open(at("err"), O_WRONLY | O_CREAT | O_TRUNC, 0600), err = dup(2), n, r;
	char given[300];

	unlink(at("told"));
	dup2(fd, 2);
	r = RUN(true, (char *)at(program), (char *)at("told"));
	dup2(err, 2);
	close(fd);
	close(err);
	CHECK(r == 5, "%s: exit %d", program, r);
	CHECK(word ? strstr(got("err"), "is traced: ") && strstr(got("err"), word) : !*got("err"), "%s: '%s'", program, got("err"));
	CHECK(sscanf(got("told"), "%299s %d", given, &n) == 2, "%s: '%s'", program, got("told"));
	CHECK(!strcmp(given, preload), "%s has '%s' preloaded, not '%s'", program, given, preload);
	CHECK(n == libraries, "%s has %d of our libraries, not %d", program, n, libraries);
}

static void expect_probe(const char *program, const char *preload, int libraries)
{
	expect_told(program, preload, libraries, NULL);
}

static void check_preload(void)
{
	char library[300], others[600], line[400];

	snprintf(library, sizeof(library), "%s/libringside.so.0", build);
	setenv("RINGSIDE_LIBRARY", library, 1);
	put("probe.c", probe, 0644);
	CHECK(compile("probe.c", "probe", ""), "%s", got("cc.err"));
	expect_probe("probe", library, 1);
	/* Behind the words of others. */
	setenv("LD_PRELOAD", "libm.so.6", 1);
	snprintf(others, sizeof(others), "%s:libm.so.6", library);
	expect_probe("probe", others, 1);
	unsetenv("LD_PRELOAD");
	/* A script goes by what runs it. */
	snprintf(line, sizeof(line), "#!%s %s\n", at("probe"), at("told"));
	put("script", line, 0755);
	if (compile("probe.c", "static", "-static"))
		expect_told("static", library, 0, "it is static");
	if (compile("probe.c", "other", sizeof(long) == 8 ? "-m32" : "-m64"))
		expect_told("other", "none", 0, "another machine");
	else
		printf("no compiler for programs of another kind\n");
	snprintf(line, sizeof(line), "-Wl,--no-as-needed -L%s -lringside -Wl,-rpath,%s", build, build);
	CHECK(compile("probe.c", "linked", line), "%s", got("cc.err"));
	expect_probe("linked", "none", 1);
	/* One that needs it through another library has one all the same. */
	put("lib.c", "int nothing;\n", 0644);
	snprintf(others, sizeof(others), "-shared -fPIC %s", line);
	CHECK(compile("lib.c", "libthrough.so", others), "%s", got("cc.err"));
	snprintf(line, sizeof(line), "-Wl,--no-as-needed %s -Wl,-rpath,%s", at("libthrough.so"), scratch);
	CHECK(compile("probe.c", "through", line), "%s", got("cc.err"));
	expect_probe("through", library, 1);
	if (compile("probe.c", "sanitized", "-fsanitize=address"))
		CHECK(RUN(true, (char *)at("sanitized"), (char *)at("told")) == 5, "a sanitizer minds");
	CHECK(RUN(true, "true") == 0 && RUN(true, "sh", "-c", "exit 4") == 4, "common programs");
	RUN(true, (char *)at("script"));

	/* Without a library it runs, and that is told. */
	setenv("RINGSIDE_LIBRARY", "libringside.so.0", 1);
	CHECK(RUN(true, (char *)at("probe"), (char *)at("told")) == 5, "it did not run");
	CHECK(!strncmp(got("told"), "none 0", 6), "%s", got("told"));
	setenv("RINGSIDE_LIBRARY", library, 1);
}

static const char order[] =
	"#include <ringside/ringside.h>\nRINGSIDE_EVENT(shop, order, field(int, item))\n"
	"int main(void)\n{\n	trace_shop_order(1);\n	return 0;\n}\n";

static int count(struct source *source, const char *what)
{
	struct buf text = BUF_INIT;
	struct err err = ERR_INIT;
	int n = 0;

	CHECK(!source_read(source, "trace", &text, &err), "%s", err.text);
	for (const char *found = text.data; found && (found = strstr(found, what)); found++)
		n++;
	buf_fini(&text);
	return n;
}

static void start(struct source *source, struct opts *opts)
{
	struct setup_how how = { .on = true };
	struct err err = ERR_INIT;
	struct setup *setup;

	CHECK(!setup_parse(&setup, opts, &how, &err) && !setup_apply(setup, source, &err), "%s", err.text);
	setup_close(setup);
}

/* However it comes by the runtime, it has one: its event comes once. */
static void check_events(void)
{
	struct source_how how = { .create = true };
	struct err err = ERR_INIT;
	struct opts opts = { 0 };
	struct source *source;
	char line[400];

	put("order.c", order, 0644);
	snprintf(line, sizeof(line), "-L%s -lringside -Wl,-rpath,%s", build, build);
	CHECK(compile("order.c", "shared", line), "%s", got("cc.err"));
	snprintf(line, sizeof(line), "%s/libringside.a", build);
	CHECK(compile("order.c", "inside", line), "%s", got("cc.err"));
	CHECK(!source_open(&source, &how, &err), "%s", err.text);
	start(source, &opts);
	CHECK(!RUN(true, (char *)at("shared")), "it failed");
	CHECK(count(source, "order: item=1") == 1, "%d", count(source, "order: item=1"));
	CHECK(!RUN(true, (char *)at("inside")), "it failed");
	CHECK(count(source, "order: item=1") == 2, "%d", count(source, "order: item=1"));
	source_close(source);
}

static void expect_user(const struct passwd *user, const char *dir)
{
	char *argv[] = { "sh", "-c", "echo $(id -u) $(id -g) $HOME $USER $LOGNAME $RINGSIDE_DIR", NULL };
	struct launch_how how = { .argv = argv, .user = user->pw_name, .dir = dir };
	char want[1000];
	struct err err = ERR_INIT;
	int fd = open(at("who"), O_WRONLY | O_CREAT | O_TRUNC, 0600), out = dup(1), r;

	dup2(fd, 1);
	r = run_how(&how, &err);
	dup2(out, 1);
	close(fd);
	close(out);
	CHECK(!r, "%d: %s", r, err.text);
	snprintf(want, sizeof(want), "%u %u %s %s %s%s%s\n", user->pw_uid, user->pw_gid, user->pw_dir,
		 user->pw_name, user->pw_name, dir ? " " : "", dir ? dir : "");
	CHECK(!strcmp(got("who"), want), "'%s', not '%s'", got("who"), want);
}

/* Root: a program of another user, and the directory that is his. */
static void check_user(void)
{
	static const struct opt table[] = { { 0, "dir", "DIR", "" }, { 0, NULL, NULL, NULL } };
	const struct passwd *found = getpwnam("nobody");
	struct passwd nobody, *user = &nobody;
	char dir[300], *argv[] = { "--dir", dir }, *program[] = { (char *)at("inside"), NULL };
	struct launch_how how = { .argv = program, .user = "nobody", .dir = dir, .preload = true, .quiet = true };
	struct err err = ERR_INIT;
	struct control *again;
	struct source *source;
	struct opts opts;
	struct stat st;

	/* Whoever looks for another writes over it. */
	if (found)
		nobody = (struct passwd){ .pw_uid = found->pw_uid, .pw_gid = found->pw_gid,
					  .pw_name = "nobody", .pw_dir = strdup(found->pw_dir) };
	CHECK(launch_open_source(&source, &(struct opts){ 0 }, "no such user", &err) == (geteuid() ? -EPERM : -ENOENT),
	      "%s", err.text);
	if (geteuid() || !found)
		return;
	expect_user(user, NULL);
	/* A place where he may make one. */
	CHECK(!chmod(scratch, 0711) && !mkdir(at("home"), 0755) && !chown(at("home"), user->pw_uid, user->pw_gid),
	      "%s", strerror(errno));
	snprintf(dir, sizeof(dir), "%s", at("home/trace"));
	err = (struct err)ERR_INIT;
	CHECK(!opts_parse(&opts, 2, argv, table, NULL, 0, &err), "%s", err.text);
	CHECK(!launch_open_source(&source, &opts, "nobody", &err), "%s", err.text);
	CHECK(!geteuid() && !getegid(), "not ourselves again");
	CHECK(!stat(dir, &st) && st.st_uid == user->pw_uid && st.st_gid == user->pw_gid, "it is not his");
	expect_user(user, dir);
	start(source, &opts);
	CHECK(run_how(&how, &err) == 0, "%s", err.text);
	CHECK(count(source, "order: item=1") == 1, "%d", count(source, "order: item=1"));
	CHECK(!control_again(&again, source_control(source), &err), "%s", err.text);
	control_close(again);
	source_close(source);
	/* One that is not his is not taken for his. */
	CHECK(!chown(dir, 0, 0) && !chmod(dir, 0755) && launch_open_source(&source, &opts, "nobody", &err) == -EPERM,
	      "taken");
	opts_fini(&opts);
}

int main(void)
{
	launch_note_signals();
	scratch = getenv("RINGSIDE_SCRATCH");
	build = getenv("RINGSIDE_BUILD");
	unsetenv("LD_PRELOAD");
	check_ends();
	check_gate();
	check_death();
	check_signals();
	check_preload();
	check_events();
	unsetenv("RINGSIDE_DIR");
	check_user();
	return 0;
}
