/*
 * tracing_cpumask: what happens on a CPU that is off is not recorded, and is no loss.
 */
#include "control/program.h"

static struct item item;

/* A mask with just the i-th bit, or with all of them, as the file shows it. */
static void mask_text(char *text, size_t size, uint32_t ncpu, int bit)
{
	uint32_t groups = (ncpu + 31) / 32;
	size_t at = 0;

	for (uint32_t g = groups; g-- > 0;) {
		uint32_t bits = g + 1 == groups ? ncpu - g * 32 : 32;
		uint32_t all = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
		uint32_t one = bit >= 0 && bit / 32 == (int)g ? 1u << bit % 32 : 0;

		at += (size_t)snprintf(text + at, size - at, "%0*x%s", (int)(bits + 3) / 4, bit < 0 ? all : one,
				       g ? "," : "\n");
	}
}

static void check_text(struct control *control)
{
	static const struct { const char *text; int want; } bad[] = {
		{ "", -EINVAL }, { "\n", -EINVAL }, { " ", -EINVAL }, { "x", -EINVAL }, { "0x1", -EINVAL },
		{ "1 1", -EINVAL }, { ",", -EINVAL }, { ",1", -EINVAL }, { "1,", -EINVAL }, { "0,,1", -EINVAL },
		{ "000000001", -EINVAL }, { "-1", -EINVAL },
	};
	char all[4096], one[4096], far[4096];
	uint32_t ncpu = control->dir.ncpu;

	mask_text(all, sizeof(all), ncpu, -1);
	room_expect(control, "tracing_cpumask", all);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		room_write(control, "tracing_cpumask", bad[i].text, bad[i].want);
		room_expect(control, "tracing_cpumask", all);
	}
	/* A CPU that there is not, however far away. */
	mask_text(far, sizeof(far), ncpu + 1, (int)ncpu);
	room_write(control, "tracing_cpumask", far, -EOVERFLOW);
	memset(far, '1', sizeof(far));
	far[sizeof(far) - 1] = '\0';
	room_write(control, "tracing_cpumask", far, -EOVERFLOW);
	room_expect(control, "tracing_cpumask", all);

	for (uint32_t cpu = 0; cpu < ncpu; cpu++) {
		mask_text(one, sizeof(one), ncpu, (int)cpu);
		room_write(control, "tracing_cpumask", one, 0);
		room_expect(control, "tracing_cpumask", one);
	}
	room_write(control, "tracing_cpumask", "00000000,00000001", 0);
	mask_text(one, sizeof(one), ncpu, 0);
	room_expect(control, "tracing_cpumask", one);
	room_write(control, "tracing_cpumask", " 0\n", 0);
	mask_text(one, sizeof(one), ncpu, INT32_MAX);
	room_expect(control, "tracing_cpumask", one);
	room_write(control, "tracing_cpumask", all, 0);
}

/* Events of any CPU, and whether any was counted as lost. */
static int recorded(struct control *control)
{
	int n = count_in(control, "trace", "item: n=");

	for (uint32_t cpu = 0; cpu < control->dir.ncpu; cpu++) {
		char path[64];

		snprintf(path, sizeof(path), "per_cpu/cpu%u/stats", cpu);
		CHECK(!number_in(control, path, "dropped events: ") && !number_in(control, path, "\noverrun: "),
		      "CPU %u: what is not wanted counts as lost", cpu);
	}
	CHECK(!count_in(control, "trace_pipe", "LOST"), "a loss is told");
	room_write(control, "trace", "", 0);
	return n;
}

/* With rseq of libc, of the runtime, without any; on the CPU that is on, and on one that is off. */
static void check_programs(struct control *control)
{
	char mask[4096], cpu[32];

	for (int rseq = ROLE_RSEQ; rseq <= ROLE_RSEQ_NONE; rseq++) {
		snprintf(cpu, sizeof(cpu), "%d", cpu_at(0));
		mask_text(mask, sizeof(mask), control->dir.ncpu, cpu_at(0));
		room_write(control, "tracing_cpumask", mask, 0);
		child_expect(role_start("say", cpu, rseq));
		CHECK(recorded(control) == 100, "kind %d: not all on a CPU that is on", rseq);
		room_write(control, "tracing_cpumask", "0", 0);
		child_expect(role_start("say", cpu, rseq));
		CHECK(recorded(control) == 0, "kind %d: with all CPUs off", rseq);
		if (cpu_at(1) < 0)
			continue;
		room_write(control, "tracing_cpumask", mask, 0);
		snprintf(cpu, sizeof(cpu), "%d", cpu_at(1));
		child_expect(role_start("say", cpu, rseq));
		CHECK(recorded(control) == 0, "kind %d: on a CPU that is off", rseq);
		mask_text(mask, sizeof(mask), control->dir.ncpu, cpu_at(1));
		room_write(control, "tracing_cpumask", mask, 0);
		child_expect(role_start("say", cpu, rseq));
		CHECK(recorded(control) == 100, "kind %d: on that CPU when it is on", rseq);
	}
}

/* A program that runs hears of it, and a buffer's mask is its own. */
static void check_live(struct control *control)
{
	char all[4096];

	mask_text(all, sizeof(all), control->dir.ncpu, -1);
	room_write(control, "tracing_cpumask", all, 0);
	room_mkdir(control, "instances/a", 0);
	room_write(control, "instances/a/events/enable", "1", 0);
	for (int i = 0; i < 10; i++) {
		room_write(control, i % 2 ? "tracing_cpumask" : "instances/a/tracing_cpumask", i % 4 < 2 ? "0" : all, 0);
		item_emit(&item, i);
	}
	/* Off at the top for 1 and 2, 5 and 6, 9; in the instance for 0 and 1, 4 and 5, 8 and 9. */
	CHECK(count_in(control, "instances/a/trace", "item: n=") == 4, "%d in the instance",
	      count_in(control, "instances/a/trace", "item: n="));
	CHECK(recorded(control) == 5, "the top");
	room_rmdir(control, "instances/a", 0);
}

int main(int argc, char **argv)
{
	struct control *control = argc > 1 ? NULL : room_open();

	item = item_bring("item");
	if (argc > 2) {
		cpu_pin(atoi(argv[2]));
		item_emit_many(&item, 0, 100);
		return 0;
	}
	check_text(control);
	room_write(control, "events/test/item/enable", "1", 0);
	check_programs(control);
	check_live(control);
	control_close(control);
	return 0;
}
