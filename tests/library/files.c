/*
 * Files of a tracing directory and of a plain directory by the library: text, numbers, lists, and
 * every refusal with its words; names that would lead elsewhere lead nowhere.
 */
#include "library/lab.h"

static void directory(void)
{
	struct ringside_control *tree = lab_open(), *other;
	long long number = -1;
	char **names, *text;

	CHECK(!strcmp(ringside_control_name(tree), getenv("RINGSIDE_DIR")), "%s",
	      ringside_control_name(tree));
	lab_expect(tree, NULL, "tracing_on", "1\n");
	FINE(tree, ringside_control_file_write(tree, NULL, "tracing_on", "0"));
	FINE(tree, ringside_control_file_read_number(tree, NULL, "tracing_on", &number));
	CHECK(number == 0, "%lld", number);

	/* Two handles see one state. */
	FINE(other, ringside_control_open(&other, getenv("RINGSIDE_DIR"), 0));
	FINE(other, ringside_control_file_write(other, NULL, "tracing_on", "1"));
	lab_expect(tree, NULL, "tracing_on", "1\n");
	ringside_control_close(other);

	FINE(tree, ringside_control_file_append(tree, NULL, "set_event_pid", "1"));
	FINE(tree, ringside_control_file_append(tree, NULL, "set_event_pid", "2"));
	lab_expect(tree, NULL, "set_event_pid", "1\n2\n");
	FINE(tree, ringside_control_file_write(tree, NULL, "set_event_pid", "3"));
	lab_expect(tree, NULL, "set_event_pid", "3\n");

	CHECK(ringside_control_file_exists(tree, NULL, "trace") == 1, "trace");
	CHECK(ringside_control_file_exists(tree, NULL, "events") == 1, "events");
	CHECK(ringside_control_file_exists(tree, NULL, "nothing") == 0, "nothing");

	FINE(tree, ringside_control_file_list(tree, NULL, "", &names));
	CHECK(lab_has(names, "trace") && lab_has(names, "events/"), "the top");
	ringside_control_names_free(names);

	REFUSED(tree, ringside_control_file_read(tree, NULL, "nothing", &text, NULL), ENOENT);
	CHECK(!text, "a text");
	REFUSED(tree, ringside_control_file_read(tree, NULL, "events", &text, NULL), EISDIR);
	REFUSED(tree, ringside_control_file_write(tree, NULL, "tracing_on", "perhaps"), EINVAL);
	REFUSED(tree, ringside_control_file_write(tree, NULL, "README", "x"), EACCES);
	REFUSED(tree, ringside_control_file_read_number(tree, NULL, "README", &number), EINVAL);
	REFUSED(tree, ringside_control_file_list(tree, NULL, "trace", &names), ENOTDIR);
	CHECK(!names, "names");
	REFUSED(tree, ringside_control_file_write(tree, NULL, NULL, "x"), EINVAL);
	REFUSED(tree, ringside_control_file_write(tree, NULL, "tracing_on", NULL), EINVAL);
	/* What went well has no words. */
	FINE(tree, ringside_control_file_write(tree, NULL, "tracing_on", "1"));
	ringside_control_close(tree);
}

static void hostile(struct ringside_control *tree)
{
	static const char *const bad[] = { "", ".", "..", "a/b", "../x", "/", "a\nb" };
	struct ringside_control_instance *instance;
	char long_name[5000], **names, *text;

	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		REFUSED(tree, ringside_control_instance_create(tree, bad[i], &instance), EINVAL);
		REFUSED(tree, ringside_control_instance_find(tree, bad[i], &instance), EINVAL);
		CHECK(!instance, "'%s'", bad[i]);
		REFUSED(tree, ringside_control_event_enable(tree, NULL, bad[i], NULL), EINVAL);
		REFUSED(tree, ringside_control_event_enable(tree, NULL, "lab", bad[i]), EINVAL);
		REFUSED(tree, ringside_control_event_format(tree, bad[i], "x", &text), EINVAL);
		REFUSED(tree, ringside_control_events(tree, bad[i], &names), EINVAL);
		REFUSED(tree, ringside_control_option_set(tree, NULL, bad[i], 1), EINVAL);
		REFUSED(tree, ringside_control_clock_set(tree, NULL, bad[i]), EINVAL);
	}
	REFUSED(tree, ringside_control_instance_create(tree, NULL, &instance), EINVAL);
	REFUSED(tree, ringside_control_instance_create(tree, long_name, &instance), EINVAL);
	REFUSED(tree, ringside_control_file_read(tree, NULL, long_name, &text, NULL), ENAMETOOLONG);
	REFUSED(tree, ringside_control_file_read(tree, NULL, "../outside", &text, NULL), ENOENT);
	REFUSED(tree, ringside_control_file_write(tree, NULL, "../outside", "x"), ENOENT);
	REFUSED(tree, ringside_control_file_read(tree, NULL, "events/../../outside", &text, NULL), ENOENT);
	CHECK(!ringside_control_file_exists(tree, NULL, "../outside"), "outside");
}

static void plain(const char *root)
{
	struct ringside_control *tree;
	long long number;
	char **names;

	lab_puts(root, "../outside", "secret");
	lab_puts(root, "tracing_on", "1\n");
	lab_puts(root, "notes", "one\n");
	lab_puts(root, "size", "0x10 and more\n");
	lab_puts(root, "events/enable", "X\n");
	FINE(tree, ringside_control_open_tracefs(&tree, root));
	CHECK(!strcmp(ringside_control_name(tree), root), "%s", ringside_control_name(tree));
	FINE(tree, ringside_control_file_append(tree, NULL, "notes", "two\n"));
	lab_expect(tree, NULL, "notes", "one\ntwo\n");
	FINE(tree, ringside_control_file_write(tree, NULL, "notes", "three"));
	lab_expect(tree, NULL, "notes", "three");
	FINE(tree, ringside_control_file_write(tree, NULL, "notes", ""));
	lab_expect(tree, NULL, "notes", "");
	REFUSED(tree, ringside_control_file_read_number(tree, NULL, "notes", &number), EINVAL);
	FINE(tree, ringside_control_file_read_number(tree, NULL, "size", &number));
	CHECK(number == 16, "%lld", number);
	FINE(tree, ringside_control_file_list(tree, NULL, ".", &names));
	CHECK(!strcmp(names[0], "events/") && !strcmp(names[1], "notes") && !names[4], "'%s'", names[0]);
	ringside_control_names_free(names);
	REFUSED(tree, ringside_control_file_write(tree, NULL, "new", "x"), ENOENT);
	hostile(tree);
	ringside_control_close(tree);

	/* A relative path holds when the program goes elsewhere. */
	CHECK(!chdir(getenv("RINGSIDE_SCRATCH")), "chdir");
	FINE(tree, ringside_control_open_tracefs(&tree, "plain/tree"));
	CHECK(!chdir("/"), "chdir");
	CHECK(ringside_control_is_on(tree, NULL) == 1, "%s", ringside_control_error(tree));
	CHECK(!strcmp(ringside_control_name(tree), root), "%s", ringside_control_name(tree));
	ringside_control_close(tree);
}

static void not_opened(const char *root)
{
	struct ringside_control *tree;
	char nothing[4096], *text;

	snprintf(nothing, sizeof(nothing), "%s/nothing", root);
	REFUSED(tree, ringside_control_open(&tree, nothing, 0), ENOENT);
	REFUSED(tree, ringside_control_file_read(tree, NULL, "trace", &text, NULL), EBADF);
	CHECK(!*ringside_control_name(tree), "a name");
	ringside_control_close(tree);
	REFUSED(tree, ringside_control_open_tracefs(&tree, nothing), ENOENT);
	ringside_control_close(tree);
	REFUSED(tree, ringside_control_open_tracefs(&tree, "/proc"), EINVAL);
	ringside_control_close(tree);
	REFUSED(tree, ringside_control_open(&tree, "", 0), EINVAL);
	ringside_control_close(tree);
	ringside_control_close(NULL);
	ringside_control_names_free(NULL);
	ringside_control_instance_free(NULL);
	ringside_control_records_close(NULL);
	CHECK(ringside_control_on(NULL, NULL) == -EINVAL, "no tree");
}

int main(void)
{
	struct ringside_control *tree;
	char root[4096];

	snprintf(root, sizeof(root), "%s/plain", getenv("RINGSIDE_SCRATCH"));
	CHECK(!mkdir(root, 0755), "%s", root);
	strcat(root, "/tree");
	CHECK(!mkdir(root, 0755), "%s", root);
	directory();
	tree = lab_open();
	hostile(tree);
	ringside_control_close(tree);
	plain(root);
	not_opened(root);
	return 0;
}
