/*
 * decode/type: see type.h. Pure functions on text, for any thread.
 */
#include "decode/type.h"

#include <string.h>

struct named {
	const char *name;
	int8_t size;		/* 0: as a long */
	bool is_signed;
	uint8_t kind;
};

/*
 * Type names of one word that formats use and that C does not define. Names not listed here are
 * opaque.
 */
static const struct named names[] = {
	{ "u8", 1, false, DECODE_INT },		{ "s8", 1, true, DECODE_INT },
	{ "u16", 2, false, DECODE_INT },	{ "s16", 2, true, DECODE_INT },
	{ "u32", 4, false, DECODE_INT },	{ "s32", 4, true, DECODE_INT },
	{ "u64", 8, false, DECODE_INT },	{ "s64", 8, true, DECODE_INT },
	{ "uint", 4, false, DECODE_INT },	{ "ulong", 0, false, DECODE_INT },
	{ "uint8_t", 1, false, DECODE_INT },	{ "int8_t", 1, true, DECODE_INT },
	{ "uint16_t", 2, false, DECODE_INT },	{ "int16_t", 2, true, DECODE_INT },
	{ "uint32_t", 4, false, DECODE_INT },	{ "int32_t", 4, true, DECODE_INT },
	{ "uint64_t", 8, false, DECODE_INT },	{ "int64_t", 8, true, DECODE_INT },
	{ "size_t", 0, false, DECODE_INT },	{ "ssize_t", 0, true, DECODE_INT },
	{ "uintptr_t", 0, false, DECODE_INT },	{ "intptr_t", 0, true, DECODE_INT },
	{ "ptrdiff_t", 0, true, DECODE_INT },	{ "off_t", 0, true, DECODE_INT },
	{ "loff_t", 8, true, DECODE_INT },	{ "pid_t", 4, true, DECODE_INT },
	{ "uid_t", 4, false, DECODE_INT },	{ "gid_t", 4, false, DECODE_INT },
	{ "dev_t", 4, false, DECODE_INT },	{ "ino_t", 0, false, DECODE_INT },
	{ "umode_t", 2, false, DECODE_INT },	{ "gfp_t", 4, false, DECODE_INT },
	{ "sector_t", 8, false, DECODE_INT },	{ "dma_addr_t", 8, false, DECODE_INT },
	{ "phys_addr_t", 8, false, DECODE_INT }, { "pgoff_t", 0, false, DECODE_INT },
	{ "bool", 1, false, DECODE_BOOL },	{ "_Bool", 1, false, DECODE_BOOL },
	{ "float", 4, true, DECODE_FLOAT },	{ "double", 8, true, DECODE_FLOAT },
	{ "__le16", 2, false, DECODE_INT },	{ "__be16", 2, false, DECODE_INT },
	{ "__le32", 4, false, DECODE_INT },	{ "__be32", 4, false, DECODE_INT },
	{ "__le64", 8, false, DECODE_INT },	{ "__be64", 8, false, DECODE_INT },
};

/* Words counted while a type is read. */
struct words {
	unsigned int longs, shorts, chars, ints, unsigneds, signeds, stars, structs, enums;
	const struct named *named;
};

static bool word_is(const char *word, size_t len, const char *name)
{
	return strlen(name) == len && !memcmp(word, name, len);
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

static const struct named *find(const char *word, size_t len)
{
	/* The kernel's exported spelling of u8 and its like. */
	if (len > 2 && !memcmp(word, "__", 2) && (word[2] == 'u' || word[2] == 's')) {
		word += 2;
		len -= 2;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (word_is(word, len, names[i].name))
			return &names[i];
	return NULL;
}

static void count(struct words *w, const char *word, size_t len)
{
	static const char *const ignored[] = {
		"const", "volatile", "restrict", "register", "static", "__user", "__kernel",
		"__iomem", "__percpu", "__rcu", "__seg_gs", "__force", "__data_loc", "__rel_loc",
	};
	const struct named *named;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		if (word_is(word, len, ignored[i]))
			return;
	if (word_is(word, len, "long"))
		w->longs++;
	else if (word_is(word, len, "short"))
		w->shorts++;
	else if (word_is(word, len, "char"))
		w->chars++;
	else if (word_is(word, len, "int"))
		w->ints++;
	else if (word_is(word, len, "unsigned"))
		w->unsigneds++;
	else if (word_is(word, len, "signed"))
		w->signeds++;
	else if (word_is(word, len, "struct") || word_is(word, len, "union"))
		w->structs++;
	else if (word_is(word, len, "enum"))
		w->enums++;
	else if ((named = find(word, len)))
		w->named = named;
}

static struct decode_type scalar(const struct words *w, const struct decode_abi *abi)
{
	struct decode_type t = { .kind = DECODE_INT, .is_signed = !w->unsigneds };

	if (w->structs)
		return (struct decode_type){ .kind = DECODE_OPAQUE };
	if (w->enums) {
		t.size = 4;
		t.is_signed = false;
	} else if (w->chars) {
		t.size = 1;
		t.is_char = !w->unsigneds && !w->signeds;
	} else if (w->shorts) {
		t.size = 2;
	} else if (w->longs) {
		t.size = w->longs > 1 ? 8 : abi->long_size;
	} else if (w->ints || w->unsigneds || w->signeds) {
		t.size = 4;
	} else if (w->named) {
		t.kind = w->named->kind;
		t.size = w->named->size ? (uint8_t)w->named->size : abi->long_size;
		t.is_signed = w->named->is_signed;
	} else {
		t = (struct decode_type){ .kind = DECODE_OPAQUE };
	}
	return t;
}

struct decode_type decode_type_parse(const char *text, size_t len, const struct decode_abi *abi)
{
	struct words w = { 0 };
	struct decode_type t;
	size_t i = 0, start;

	while (i < len) {
		if (text[i] == '*')
			w.stars++;
		if (!is_word(text[i])) {
			i++;
			continue;
		}
		for (start = i; i < len && is_word(text[i]); i++)
			;
		count(&w, text + start, i - start);
	}
	t = scalar(&w, abi);
	if (!w.stars)
		return t;
	if (w.stars > 1)
		t = (struct decode_type){ .kind = DECODE_POINTER, .size = abi->long_size };
	return (struct decode_type){ .kind = DECODE_POINTER, .size = abi->long_size,
				     .elem_kind = t.kind, .elem_size = t.size,
				     .elem_signed = t.is_signed };
}
