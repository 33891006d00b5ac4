/*
 * What texts of triggers, synthetic events and event probes are fuzzed in: two events with a field of each kind, a
 * histogram that sets variables, a few synthetic events. A text that is taken is shown; what is shown is taken again, and
 * shown as before. A text that is refused has a caret within what is shown of it.
 */
#ifndef FUZZ_SPEC_H
#define FUZZ_SPEC_H

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trigger/spec.h"
#include "fields.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char spec_format_text[] =
	FUZZ_FIELDS
	"\tfield:__data_loc unsigned long[] st;\toffset:52;\tsize:4;\tsigned:0;\n"
	"\tfield:u32 z[4];\toffset:56;\tsize:16;\tsigned:0;\n"
	"\nprint fmt: \"\"\n";

static struct decode_format *spec_format;
static struct spec_trigger *spec_other;
static struct spec_synth *spec_synths[3];

static const struct decode_format *spec_event(void *arg, const char *system, const char *name)
{
	(void)arg;
	return !strcmp(system, "s") && (!strcmp(name, "e") || !strcmp(name, "f")) ? spec_format : NULL;
}

static const struct spec_hist *spec_hist_at(void *arg, uint32_t i, const char **system, const char **event)
{
	(void)arg;
	*system = "s";
	*event = "f";
	return spec_other && !i ? spec_other->hist : NULL;
}

static const struct spec_synth *spec_find_synth(void *arg, const char *name)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(spec_synths) / sizeof(spec_synths[0]); i++) {
		if (spec_synths[i] && !strcmp(spec_synths[i]->name, name))
			return spec_synths[i];
	}
	return NULL;
}

static const char *spec_system(void *arg, const char *event)
{
	(void)arg;
	return !strcmp(event, "e") ? "s" : NULL;
}

static int spec_places(void *arg, const char *module, const char *name)
{
	(void)arg;
	return module ? -ENOENT : !strcmp(name, "f") || !strcmp(name, "v") ? 1 : 0;
}

static const char *spec_prototype(void *arg, const char *module, const char *name)
{
	(void)arg, (void)module;
	return !strcmp(name, "f") ? "p(p@0 a,p@1 t,u8@2 n,f8 r,i4@3,s24 v,b@4 w)" : !strcmp(name, "v") ? "v()" : NULL;
}

static int spec_file(void *arg, const char *path, char *real)
{
	(void)arg, (void)real;
	return !strcmp(path, "/f") ? 0 : !strcmp(path, "/d") ? -EINVAL : -ENOENT;
}

static const struct spec_world spec_world = {
	.event = spec_event, .hist = spec_hist_at, .synth = spec_find_synth, .system_of = spec_system, .places = spec_places,
	.prototype = spec_prototype, .file = spec_file,
};

static inline void spec_setup(void)
{
	static const char *const texts[] = { "one u64 a", "two char a[]; char b[8]; int c", "three unsigned long[] st" };
	static const char other[] = "hist:keys=i:a=l,b=t,c=st,k=5,ts=common_timestamp.usecs";
	struct spec_error error = SPEC_ERROR_INIT;
	struct err err = ERR_INIT;
	bool remove;

	if (spec_format)
		return;
	if (decode_format_parse("s", spec_format_text, strlen(spec_format_text), NULL, &spec_format, &err))
		abort();
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (spec_synth_parse(&spec_synths[i], &remove, &spec_world, false, texts[i], strlen(texts[i]), &error))
			abort();
	}
	if (spec_trigger_parse(&spec_other, &spec_world, "s", "f", other, strlen(other), &error))
		abort();
	spec_other->hist->serial = 1;
	spec_error_fini(&error);
}

static inline void spec_must_be(bool is, const char *what, const char *a, const char *b)
{
	if (is)
		return;
	fprintf(stderr, "%s\n%s\n%s\n", what, a ? a : "", b ? b : "");
	abort();
}

static inline void spec_check_error(const struct spec_error *error, int ret)
{
	spec_must_be(error->code == ret && error->text[0], "a refusal without words", NULL, NULL);
	spec_must_be(!error->message || error->pos <= error->command.len + 1, "a caret outside", error->message,
		     error->command.data);
}

#endif
