/*
 * What histograms have that the kernel's have not: more keys and values, quantiles, doubles, the task's name as a key, a
 * variable made of the one before it. And names that are believed where nobody knows the event yet.
 */
#include <errno.h>
#include <string.h>

#include "../insist.h"
#include "trigger/spec.h"

static const char text[] =
	"name: e\nID: 7\nformat:\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:int i;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 l;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:double d;\toffset:24;\tsize:8;\tsigned:1;\n"
	"\tfield:char n[8];\toffset:32;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] t;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc unsigned long[] st;\toffset:44;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 z[4];\toffset:48;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static struct decode_format *format;

static const struct decode_format *event(void *arg, const char *system, const char *name)
{
	(void)arg;
	return !strcmp(system, "s") && !strcmp(name, "e") ? format : NULL;
}

static const struct spec_world world = { .event = event };
static const struct spec_world believing = { .event = event, .anything = true };

/* A world with one histogram, of another event, which arg is. */
static const struct spec_hist *only_hist(void *arg, uint32_t i, const char **system, const char **name)
{
	*system = "s";
	*name = "f";
	return i ? NULL : arg;
}

static struct spec_trigger *take(const struct spec_world *w, const char *name, const char *line, const char *shown)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *trigger;
	struct buf out = BUF_INIT;

	CHECK(!spec_trigger_parse(&trigger, w, "s", name, line, strlen(line), &error), "%s: %s", line, error.text);
	spec_trigger_show(trigger, trigger->count, false, &out);
	CHECK(!strcmp(out.data, shown), "%s is shown as\n%s and not as\n%s", line, out.data, shown);
	buf_fini(&out);
	spec_error_fini(&error);
	return trigger;
}

static void refuse(const struct spec_world *w, const char *name, const char *line, int code)
{
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *trigger;
	int ret = spec_trigger_parse(&trigger, w, "s", name, line, strlen(line), &error);

	CHECK(ret == code && !trigger && error.text[0], "%s: %d", line, ret);
	spec_error_fini(&error);
}

static void many(void)
{
	struct spec_trigger *trigger =
		take(&world, "e", "hist:keys=i,l,n,t,common_cpu,common_comm:vals=i,l,d,i.hex:sort=d",
		     "hist:keys=i,l,n,t,common_cpu,common_comm:vals=hitcount,i,l,d,i.hex:sort=d:size=2048 [active]");

	CHECK(trigger->hist->nkeys == 6 && trigger->hist->nvals == 4, "%u %u", trigger->hist->nkeys, trigger->hist->nvals);
	CHECK(trigger->hist->keys[0]->form == HOOK_NUMBER && trigger->hist->keys[0]->is_signed, "an int");
	CHECK(trigger->hist->keys[2]->form == HOOK_TEXT && trigger->hist->keys[2]->size == 8, "a text of 8");
	CHECK(trigger->hist->keys[3]->form == HOOK_TEXT && trigger->hist->keys[3]->size == 256, "a text of any size");
	CHECK(trigger->hist->keys[5]->what == SPEC_COMM && trigger->hist->keys[5]->form == HOOK_TEXT, "a name");
	CHECK(trigger->hist->vals[2]->form == HOOK_REAL && trigger->hist->sorts[0].val == 2, "a double");
	spec_trigger_free(trigger);
	refuse(&world, "e", "hist:keys=i,i,i,i,i,i,i,i,i", -EINVAL);
	refuse(&world, "e", "hist:keys=i:vals=i,i,i,i,i,i,i,i,i", -EINVAL);
	refuse(&world, "e", "hist:keys=t,t,t,t,t", -EINVAL);
	refuse(&world, "e", "hist:keys=z", -ENOMEM);
}

static void modifiers(void)
{
	struct spec_trigger *trigger = take(&world, "e", "hist:keys=st.stacktrace:vals=l.quantiles,i.percent",
					    "hist:keys=st.stacktrace:vals=hitcount,l.quantiles,i.percent:sort=hitcount:size=2048 "
					    "[active]");

	CHECK(trigger->hist->vals[0]->how == SPEC_QUANTILES && trigger->hist->keys[0]->form == HOOK_STACK, "modifiers");
	spec_trigger_free(trigger);
	trigger = take(&world, "e", "hist:keys=n.string,i.string:x=t.string",
		       "hist:keys=n.string,i.string:vals=hitcount:x=t.string:sort=hitcount:size=2048 [active]");
	/* Their room is the same as where nobody knows the event. */
	for (uint32_t i = 0; i < 2; i++)
		CHECK(trigger->hist->keys[i]->form == HOOK_TEXT && trigger->hist->keys[i]->size == 256, "key %u", i);
	spec_trigger_free(trigger);
	refuse(&world, "e", "hist:keys=d.string", -EINVAL);
	refuse(&world, "e", "hist:keys=st.string", -EINVAL);
	refuse(&world, "e", "hist:keys=common_timestamp.string", -EINVAL);
	refuse(&world, "e", "hist:keys=i:vals=n.string", -EINVAL);
	refuse(&world, "e", "hist:keys=l.quantiles", -EINVAL);
	refuse(&world, "e", "hist:keys=i:x=l.quantiles", -EINVAL);
}

static void own(void)
{
	struct spec_trigger *trigger = take(&world, "e", "hist:keys=i:x=l-i,y=$x*2,z=$y",
					    "hist:keys=i:vals=hitcount:x=l-i,y=$x*2,z=$y:sort=hitcount:size=2048 [active]");
	const struct spec_term *y = trigger->hist->vars[1].value;

	CHECK(y->what == SPEC_MATH && y->a->what == SPEC_VAR && y->a->is_own && y->a->var_number == 0, "own");
	spec_trigger_free(trigger);
	refuse(&world, "e", "hist:keys=i:y=$x*2,x=l-i", -EINVAL);
	refuse(&world, "e", "hist:keys=i:x=$s.f.l", -EINVAL);
	trigger = take(&world, "e", "hist:keys=i:x=$y,z=$x,y=l",
		       "hist:keys=i:vals=hitcount:x=l,z=l,y=l:sort=hitcount:size=2048 [active]");
	spec_trigger_free(trigger);
	refuse(&world, "e", "hist:keys=i:x=$y,y=$x", -EINVAL);
	refuse(&world, "e", "hist:keys=i:x=l-i,y=$x.usecs", -EINVAL);
	refuse(&world, "e", "hist:keys=i:x.usecs=l", -EINVAL);
	/* The kernel refuses the second; shown, the first is the same. */
	refuse(&world, "e", "hist:keys=i:x=5*3,y=$x", -EINVAL);
	refuse(&world, "e", "hist:keys=i:x=15,y=$x", -EINVAL);
}

/* What is shown is what is written, behind a !, to remove it. */
static void shown(void)
{
	static const char *const lines[] = {
		"hist:keys=l.sym-offset,i:vals=hitcount:sort=l.sym-offset.descending,i:size=2048",
		"hist:keys=i:vals=hitcount:x=common_timestamp.usecs-$ts,y=$x.usecs:sort=hitcount:size=2048:clock=global",
		"hist:keys=i:vals=hitcount:x=$ts.usecs,ts=15:sort=hitcount:size=2048",
	};
	static const char *const written[] = {
		"hist:keys=l.sym-offset,i:sort=l.descending,i",
		"hist:keys=i:x=common_timestamp.usecs-$ts:y=$x",
		"hist:keys=i:x=$ts,ts=3*5",
	};
	struct spec_error error = SPEC_ERROR_INIT;
	struct spec_trigger *removed, *trigger;
	struct spec_world asked = world;
	struct buf line = BUF_INIT;

	trigger = take(&world, "e", "hist:keys=i:ts=common_timestamp.usecs",
		       "hist:keys=i:vals=hitcount:ts=common_timestamp.usecs:sort=hitcount:size=2048:clock=global [active]");
	trigger->hist->serial = 1;
	asked.arg = trigger->hist;
	asked.hist = only_hist;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct spec_trigger *set;

		buf_reset(&line);
		buf_printf(&line, "%s [active]", lines[i]);
		set = take(&asked, "e", written[i], line.data);
		buf_reset(&line);
		buf_printf(&line, "!%s", lines[i]);
		CHECK(!spec_trigger_parse(&removed, &asked, "s", "e", line.data, line.len, &error), "%s: %s", line.data,
		      error.text);
		CHECK(removed->remove && spec_trigger_same(set, removed), "%s is not %s", line.data, written[i]);
		spec_trigger_free(set);
		spec_trigger_free(removed);
	}
	buf_fini(&line);
	spec_error_fini(&error);
	spec_trigger_free(trigger);
}

static void believed(void)
{
	struct spec_trigger *trigger = take(&believing, "later", "hist:keys=any,other.stacktrace:x=common_timestamp-some",
					    "hist:keys=any,other.stacktrace:vals=hitcount:x=common_timestamp-some:sort="
					    "hitcount:size=2048:clock=global [active]");

	spec_trigger_free(trigger);
	trigger = take(&believing, "later", "hist:keys=any.string",
		       "hist:keys=any.string:vals=hitcount:sort=hitcount:size=2048 [active]");
	CHECK(trigger->hist->keys[0]->form == HOOK_TEXT && trigger->hist->keys[0]->size == 256, "a text of any size");
	spec_trigger_free(trigger);
	trigger = take(&believing, "e", "enable_event:any:thing:3", "enable_event:any:thing:count=3");
	spec_trigger_free(trigger);
	refuse(&believing, "e", "hist:keys=nothing", -EINVAL);
	refuse(&world, "later", "hist:keys=any", -ENOENT);
	refuse(&world, "e", "enable_event:any:thing:3", -EINVAL);
}

int main(void)
{
	struct err err = ERR_INIT;

	CHECK(!decode_format_parse("s", text, strlen(text), NULL, &format, &err), "%s", err.text);
	many();
	modifiers();
	own();
	shown();
	believed();
	decode_format_free(format);
	return 0;
}
