/*
 * A program that does nothing, traced (with -DTRACED) or not. With an argument it emits an event and prints how many KiB of
 * memory it holds beside the rings, so that the bench can tell what an attached process costs.
 */
#include <stdio.h>
#include <string.h>

#ifdef TRACED
#include <ringside/ringside.h>
RINGSIDE_EVENT(bench, plain, field(int, value))
#endif

/* Resident memory of mappings whose name has `what` in it, or of the rest when `invert`. */
static long resident(void)
{
	FILE *maps = fopen("/proc/self/smaps", "r");
	char line[512];
	int ours = 0;
	long kib = 0, n;

	while (maps && fgets(line, sizeof(line), maps)) {
		if (strchr(line, '-') && strchr(line, '-') < strchr(line, ' '))
			ours = !strstr(line, "/rings");
		if (ours && sscanf(line, "Rss: %ld", &n) == 1)
			kib += n;
	}
	if (maps)
		fclose(maps);
	return kib;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
#ifdef TRACED
		trace_bench_plain(1);
#endif
		printf("%ld\n", resident());
	}
	return 0;
}
