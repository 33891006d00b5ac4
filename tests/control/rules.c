/*
 * Enables are patterns and the last one that matches decides; dropping rules that no longer matter
 * never changes an answer.
 */
#include "control/room.h"

#include "base/glob.h"
#include "control/rules.h"

extern const int ringside_no_attach;
const int ringside_no_attach = 1;

#define SEQUENCE 24

struct said {
	uint32_t buffer;
	const char *system, *event;
	bool on;
};

static bool naive(const struct said *said, int n, uint32_t buffer, const char *system,
		  const char *event)
{
	bool on = false;

	for (int i = 0; i < n; i++)
		if (said[i].buffer == buffer && glob_match(said[i].system, system) &&
		    glob_match(said[i].event, event))
			on = said[i].on;
	return on;
}

static void check_random(void)
{
	static const char *const systems[] = { "*", "shop", "web", "s*", "?eb", "[sw]*", "db", "w*b" };
	static const char *const events[] = { "*", "order", "pay", "o*", "*r", "p?y", "[op]*", "refund" };
	static const char *const real[] = { "shop", "web", "db", "swb", "order", "pay", "refund", "or" };
	struct control_state state = { 0 };
	struct err err = ERR_INIT;
	uint32_t seed = 11;

	for (int round = 0; round < (SANITIZED ? 250 : 1000); round++) {
		struct said said[SEQUENCE];

		control_state_default(&state);
		for (int n = 0; n < SEQUENCE; n++) {
			said[n] = (struct said){ room_random(&seed) % 2, systems[room_random(&seed) % 8],
						 events[room_random(&seed) % 8],
						 room_random(&seed) % 2 };
			CHECK(!control_rules_set(&state, said[n].buffer, said[n].system,
						 said[n].event, said[n].on, &err), "%s", err.text);
			for (int i = 0; i < 128; i++) {
				const char *system = real[i % 8], *event = real[i / 8 % 8];
				uint32_t buffer = (uint32_t)i / 64;

				CHECK(control_rules_on(&state, buffer, system, event) ==
				      naive(said, n + 1, buffer, system, event),
				      "round %d, after %d: %s:%s", round, n, system, event);
			}
		}
		CHECK(state.nrules <= SEQUENCE, "rules grow");
	}
	control_state_fini(&state);
}

static void check_compact(void)
{
	struct control_state state = { 0 };
	struct err err = ERR_INIT;
	char name[32];

	control_state_default(&state);
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "event%d", i % 50);
		CHECK(!control_rules_set(&state, 0, "shop", name, i / 50 % 2, &err), "%s", err.text);
		CHECK(state.nrules <= 50, "%u rules for 50 events", state.nrules);
	}
	CHECK(!control_rules_set(&state, 0, "shop", "*", true, &err) && state.nrules == 1,
	      "%u rules left", state.nrules);
	CHECK(!control_rules_set(&state, 0, "*", "*", false, &err) && state.nrules == 0,
	      "%u rules for nothing", state.nrules);
	CHECK(!control_rules_set(&state, 0, "shop", "x", false, &err) && state.nrules == 0,
	      "off is what everything is anyway");
	control_state_fini(&state);
}

static void check_limits(void)
{
	struct control_state state = { 0 };
	struct err err = ERR_INIT;
	char name[80];
	int r = 0, n;

	control_state_default(&state);
	memset(name, 'x', sizeof(name));
	name[60] = '\0';
	CHECK(control_rules_set(&state, 0, name, "e", true, &err) == -EINVAL, "system too long");
	name[59] = '\0';
	CHECK(!control_rules_set(&state, 0, name, "e", true, NULL), "longest system");
	CHECK(control_rules_set(&state, 0, "", "e", true, NULL) == -EINVAL, "no system");
	CHECK(control_rules_set(&state, 0, "s", "", true, NULL) == -EINVAL, "no event");
	for (n = 0; n < 100000 && !r; n++) {
		snprintf(name, sizeof(name), "e%d", n);
		r = control_rules_set(&state, 0, "s", name, true, NULL);
	}
	CHECK(r == -ENOSPC && n > 1000, "%d after %d", r, n);
	control_state_fini(&state);
}

int main(void)
{
	check_random();
	check_compact();
	check_limits();
	return 0;
}
