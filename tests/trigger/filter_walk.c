/*
 * Many random filters: the compiled program says what a plain walk over the tree says.
 */
#include "walk.h"

int main(void)
{
	struct decode_format *format = walk_parse();
	uint64_t seed = 0x9e3779b97f4a7c15ull;
	uint8_t choices[400];
	int failures = 0;

	for (int i = 0; i < 60000 && failures < 5; i++) {
		size_t n = 40 + (seed >> 20) % (sizeof(choices) - 40);

		for (size_t k = 0; k < n; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			choices[k] = (uint8_t)(seed >> 32);
		}
		failures += !walk_compare(format, choices, n);
	}
	decode_format_free(format);
	return failures ? 1 : 0;
}
