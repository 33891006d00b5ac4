/*
 * Patterns: thousands of regular expressions made by chance, on texts made by chance, matched by us
 * and by the C library; globs by us and by base/glob; and what is refused, so that no pattern can
 * take long or much.
 */
#include <regex.h>

#include "base/glob.h"
#include "expr/pattern.h"
#include "world.h"

static uint64_t seed = 1;

static unsigned int chance(unsigned int below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned int)(seed >> 33) % below;
}

static const char *const parts[] = {
	"a", "b", "A", "c", ".", "*", "\\+", "\\?", "\\{2\\}", "\\{1,2\\}", "\\{0,1\\}", "\\{1,\\}",
	"\\{,2\\}", "\\{0\\}", "\\(", "\\)", "\\|", "^", "$", "[ab]", "[^a]", "[]a]", "[^]-]",
	"[[:upper:]b]", "[a-b]", "[a-]", "\\w", "\\W", "\\s", "\\.", "\\*", "\\[", "]", "-", "{",
};

enum { NR_PARTS = sizeof(parts) / sizeof(parts[0]) };

static void any_pattern(char *out)
{
	*out = '\0';
	for (unsigned int n = chance(8) + 1; n; n--)
		strcat(out, parts[chance(chance(2) ? 4 : NR_PARTS)]);
}

static size_t any_text(char *out)
{
	size_t len = chance(7);

	for (size_t i = 0; i < len; i++)
		out[i] = "abAc.*^$]-{ [_\xe4"[chance(chance(3) ? 4 : 15)];
	out[len] = '\0';
	return len;
}

static void compare_texts(const char *text, const regex_t *theirs, const struct pattern *ours)
{
	for (int i = 0; i < 20; i++) {
		char sample[8];
		size_t len = any_text(sample);
		bool want = !regexec(theirs, sample, 0, NULL, 0);

		if (expr_pattern_match(ours, sample, len) == want)
			continue;
		printf("|%s| on |%s| must be %d\n", text, sample, want);
		failures++;
	}
}

/* Returns whether both can read it. */
static bool compare(const char *text, bool any_case)
{
	struct err err = ERR_INIT;
	struct pattern *ours = NULL;
	regex_t theirs;
	bool is_read;

	if (regcomp(&theirs, text, REG_NOSUB | (any_case ? REG_ICASE : 0)))
		return false;
	is_read = !expr_pattern_new(text, strlen(text), any_case ? PATTERN_ANY_CASE : 0, &ours,
				    &err);
	if (is_read) {
		compare_texts(text, &theirs, ours);
	} else {
		printf("|%s| is refused: %s\n", text, err.text);
		failures++;
	}
	expr_pattern_free(ours);
	regfree(&theirs);
	return is_read;
}

static void by_chance(void)
{
	char text[128];
	int read = 0;

	for (int i = 0; i < 10000 && failures < 10; i++) {
		any_pattern(text);
		read += compare(text, i & 1);
	}
	check(read > 5000);
}

static void globs(void)
{
	char text[64], sample[8];

	for (int i = 0; i < 10000 && failures < 10; i++) {
		struct pattern *pattern;
		struct err err = ERR_INIT;
		size_t len;

		*text = '\0';
		for (unsigned int n = chance(5) + 1; n; n--) {
			static const char *const pieces[] = {
				"a", "b", ".", "$", "*", "?", "[ab]", "[!a]", "\\*", "^", "]",
			};

			strcat(text, pieces[chance(11)]);
		}
		check(!expr_pattern_new_glob(text, strlen(text), &pattern, &err));
		len = any_text(sample);
		if (expr_pattern_match(pattern, sample, len) != glob_match(text, sample)) {
			printf("glob |%s| on |%s|\n", text, sample);
			failures++;
		}
		expr_pattern_free(pattern);
	}
}

static void is_refused(const char *text, int pos, const char *why)
{
	struct err err = ERR_INIT;
	struct pattern *pattern;

	if (expr_pattern_new(text, strlen(text), 0, &pattern, &err) == -EBADMSG && !pattern &&
	    err.pos == pos && strstr(err.text, why))
		return;
	printf("|%s|: at %d: %s\n", text, err.pos, err.text);
	failures++;
}

static void mistakes(void)
{
	is_refused("a[b", 1, "bracket");
	is_refused("[[:foo:]]", 1, "class");
	is_refused("[[:alpha", 1, "class");
	is_refused("[[=a=]]", 1, "collation");
	is_refused("[b-a]", 4, "range");
	is_refused("a\\(b", 1, "group");
	is_refused("ab\\)", 2, "group");
	is_refused("a\\", 1, "backslash");
	is_refused("\\{2\\}", 0, "repeat");
	is_refused("a\\{x\\}", 3, "repetition");
	is_refused("a\\{2,1\\}", 6, "repetition");
	is_refused("\\(a\\)\\1", 5, "references");
	is_refused("\\bword", 0, "word boundaries");
	is_refused("word\\'", 4, "^ and $");
}

/* These take the C library minutes or gigabytes, or would if they were longer. */
static void hostile(void)
{
	static const char states[] = "\\(a\\|b\\)*a\\(a\\|b\\)\\{60\\}c";
	char deep[1000] = "", text[64];
	struct pattern *pattern;
	struct err err = ERR_INIT;

	is_refused("\\(a\\{200\\}\\)\\{200\\}", 3, "too large");
	is_refused("\\(\\(\\(\\(\\)\\{999\\}\\)\\{999\\}\\)\\{999\\}\\)\\{999\\}", 6, "too large");
	is_refused("a\\{1\\}\\{9\\}\\{9\\}\\{9\\}\\{9\\}\\{9\\}\\{9\\}\\{9\\}", 1, "too large");
	for (int i = 0; i < 100; i++)
		strcat(deep, "\\(");
	is_refused(deep, 100, "deep");
	/* As many states as there are sets of places. */
	check(!expr_pattern_new(states, strlen(states), 0, &pattern, &err));
	memset(text, 'a', sizeof(text));
	check(!expr_pattern_match(pattern, text, sizeof(text)));
	text[63] = 'c';
	check(expr_pattern_match(pattern, text, sizeof(text)));
	expr_pattern_free(pattern);
}

int main(void)
{
	by_chance();
	globs();
	mistakes();
	hostile();
	return failures ? 1 : 0;
}
