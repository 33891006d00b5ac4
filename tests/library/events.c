/*
 * Events and instances by the library, with a program that is traced: what is switched on before
 * it starts is recorded, in the top and in an instance by itself; patterns; states; names and
 * formats; the same switches in a plain directory.
 */
#include "library/lab.h"

static int count(struct ringside_control *tree, const struct ringside_control_instance *instance,
		 const char *what)
{
	char *text;
	int n = 0;

	FINE(tree, ringside_control_file_read(tree, instance, "trace", &text, NULL));
	for (char *at = text; (at = strstr(at, what)); at++)
		n++;
	free(text);
	return n;
}

static int state(struct ringside_control *tree, const struct ringside_control_instance *instance,
		 const char *system, const char *event)
{
	int r = ringside_control_event_is_enabled(tree, instance, system, event);

	CHECK(r >= 0, "%s:%s: %s", system, event, ringside_control_error(tree));
	return r;
}

static void top(struct ringside_control *tree)
{
	REFUSED(tree, ringside_control_event_is_enabled(tree, NULL, "lab", NULL), ENOENT);
	CHECK(state(tree, NULL, NULL, NULL) == RINGSIDE_CONTROL_OFF, "all of the kernel's names");
	/* Nobody has brought it yet. */
	FINE(tree, ringside_control_event_enable(tree, NULL, "lab", "step"));
	lab_run("3");
	CHECK(count(tree, NULL, " step: n=") == 3 && !count(tree, NULL, " done: "), "one event");
	CHECK(state(tree, NULL, "lab", "step") == RINGSIDE_CONTROL_ON, "step");
	CHECK(state(tree, NULL, "lab", "done") == RINGSIDE_CONTROL_OFF, "done");
	CHECK(state(tree, NULL, "lab", NULL) == RINGSIDE_CONTROL_MIXED, "lab");
	CHECK(state(tree, NULL, NULL, NULL) == RINGSIDE_CONTROL_MIXED, "all");
	CHECK(state(tree, NULL, NULL, "st*") == RINGSIDE_CONTROL_ON, "*:st*");
	CHECK(state(tree, NULL, "l?b", "[ds]*") == RINGSIDE_CONTROL_MIXED, "l?b:[ds]*");
	REFUSED(tree, ringside_control_event_is_enabled(tree, NULL, "lab", "none"), ENOENT);
	REFUSED(tree, ringside_control_event_is_enabled(tree, NULL, "x*", "y*"), ENOENT);

	FINE(tree, ringside_control_event_enable(tree, NULL, NULL, NULL));
	CHECK(state(tree, NULL, "lab", NULL) == RINGSIDE_CONTROL_ON, "lab");
	FINE(tree, ringside_control_event_disable(tree, NULL, "l*", "st?p"));
	CHECK(state(tree, NULL, "lab", "step") == RINGSIDE_CONTROL_OFF, "step");
	CHECK(state(tree, NULL, "lab", "done") == RINGSIDE_CONTROL_ON, "done");
	FINE(tree, ringside_control_event_disable(tree, NULL, NULL, "done"));
	CHECK(state(tree, NULL, "lab", NULL) == RINGSIDE_CONTROL_OFF, "lab");
	CHECK(state(tree, NULL, NULL, NULL) == RINGSIDE_CONTROL_MIXED, "all but lab");
	FINE(tree, ringside_control_event_disable(tree, NULL, NULL, NULL));
	CHECK(state(tree, NULL, NULL, NULL) == RINGSIDE_CONTROL_OFF, "all");
	FINE(tree, ringside_control_clear(tree, NULL));
	lab_run("3");
	CHECK(!count(tree, NULL, " step: ") && !count(tree, NULL, " done: "), "nothing");
}

static void names(struct ringside_control *tree)
{
	char **list, *text;

	CHECK(ringside_control_systems(tree, &list) >= 1 && lab_has(list, "lab"), "systems");
	CHECK(!lab_has(list, "enable"), "a file");
	ringside_control_names_free(list);
	CHECK(ringside_control_events(tree, "lab", &list) == 2 && lab_has(list, "step"), "events");
	ringside_control_names_free(list);
	REFUSED(tree, ringside_control_events(tree, "none", &list), ENOENT);
	CHECK(!list, "a list");
	FINE(tree, ringside_control_event_format(tree, "lab", "step", &text));
	CHECK(strstr(text, "name: step\n") && strstr(text, "field:int n;"), "%s", text);
	free(text);
	REFUSED(tree, ringside_control_event_format(tree, "lab", "none", &text), ENOENT);
}

static void instances(struct ringside_control *tree)
{
	struct ringside_control_instance *side, *again;
	char **list;

	CHECK(ringside_control_instances(tree, &list) == 0 && !list[0], "no instances");
	ringside_control_names_free(list);
	REFUSED(tree, ringside_control_instance_find(tree, "side", &side), ENOENT);
	FINE(tree, ringside_control_instance_create(tree, "side", &side));
	CHECK(!strcmp(ringside_control_instance_name(side), "side"), "its name");
	REFUSED(tree, ringside_control_instance_create(tree, "side", &again), EEXIST);
	CHECK(!again, "a second one");
	FINE(tree, ringside_control_instance_find(tree, "side", &again));
	ringside_control_instance_free(again);
	CHECK(ringside_control_instances(tree, &list) == 1 && !strcmp(list[0], "side"), "one instance");
	ringside_control_names_free(list);

	FINE(tree, ringside_control_event_enable(tree, side, "lab", NULL));
	CHECK(state(tree, side, "lab", NULL) == RINGSIDE_CONTROL_ON, "lab in the instance");
	CHECK(state(tree, NULL, "lab", NULL) == RINGSIDE_CONTROL_OFF, "lab in the top");
	lab_run("2");
	CHECK(count(tree, side, " step: ") == 2 && count(tree, side, " done: ") == 1, "side");
	CHECK(!count(tree, NULL, " step: "), "top");
	CHECK(ringside_control_file_exists(tree, side, "trace") == 1, "trace");

	FINE(tree, ringside_control_instance_destroy(tree, side));
	REFUSED(tree, ringside_control_instance_destroy(tree, side), ENOENT);
	REFUSED(tree, ringside_control_event_enable(tree, side, "lab", NULL), ENOENT);
	REFUSED(tree, ringside_control_on(tree, side), ENOENT);
	REFUSED(tree, ringside_control_instance_destroy(tree, NULL), EINVAL);
	ringside_control_instance_free(side);
}

static void plain(const char *root)
{
	struct ringside_control *tree;

	lab_puts(root, "tracing_on", "1\n");
	lab_puts(root, "events/enable", "X\n");
	lab_puts(root, "events/lab/enable", "X\n");
	lab_puts(root, "events/lab/step/enable", "0\n");
	lab_puts(root, "events/lab/done/enable", "1*\n");
	lab_puts(root, "events/net/enable", "0\n");
	lab_puts(root, "events/net/done/enable", "0\n");
	lab_puts(root, "events/ftrace/print/format", "");
	FINE(tree, ringside_control_open_tracefs(&tree, root));
	CHECK(state(tree, NULL, NULL, NULL) == RINGSIDE_CONTROL_MIXED, "all");
	CHECK(state(tree, NULL, NULL, "done") == RINGSIDE_CONTROL_MIXED, "*:done");
	CHECK(state(tree, NULL, "lab", "d*") == RINGSIDE_CONTROL_ON, "lab:d*");
	FINE(tree, ringside_control_event_enable(tree, NULL, "*", "?one"));
	lab_expect(tree, NULL, "events/net/done/enable", "1");
	lab_expect(tree, NULL, "events/lab/done/enable", "1");
	lab_expect(tree, NULL, "events/lab/step/enable", "0\n");
	FINE(tree, ringside_control_event_disable(tree, NULL, "net", NULL));
	lab_expect(tree, NULL, "events/net/enable", "0");
	FINE(tree, ringside_control_event_enable(tree, NULL, NULL, NULL));
	lab_expect(tree, NULL, "events/enable", "1");
	REFUSED(tree, ringside_control_event_enable(tree, NULL, "none", NULL), ENOENT);
	REFUSED(tree, ringside_control_event_enable(tree, NULL, "ftrace", "print"), ENOENT);
	REFUSED(tree, ringside_control_event_enable(tree, NULL, "n*", "nothing*"), ENOENT);
	ringside_control_close(tree);
}

int main(void)
{
	struct ringside_control *tree = lab_open();
	char root[4096];

	top(tree);
	names(tree);
	instances(tree);
	ringside_control_close(tree);
	snprintf(root, sizeof(root), "%s/plain", getenv("RINGSIDE_SCRATCH"));
	plain(root);
	return 0;
}
