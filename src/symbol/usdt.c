/*
 * symbol/usdt: see usdt.h.
 *
 * A note's description is three addresses (the instruction, where .stapsdt.base was when the file was linked, the semaphore) and
 * three texts. Tools that move a file's sections afterwards do not change notes: the difference of the two bases is added.
 */
#include "symbol/usdt.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/elf.h"

#define NOTES_MAX 65536u
#define ARGS_MAX 16u
#define NOTE_STAPSDT 3u

struct usdt {
	char *bytes;		/* of the section, with the notes' texts */
	struct usdt_note *all;
	size_t n;
	struct elf_piece loads[ELF_LOADS_MAX];
	uint32_t nloads;
	/* Of variables that arguments may be in: names and addresses. */
	struct variable {
		char *name;
		uint64_t address;
	} *variables;
	size_t nvariables;
};

/* ---- notes ---- */

static bool is_name(const char *text)
{
	size_t n = 0;

	for (; text[n]; n++)
		if (!isalnum((unsigned char)text[n]) && text[n] != '_')
			return false;
	return n && n < 64 && !isdigit((unsigned char)*text);
}

/* Some use dashes, as DTrace shows double underscores. */
static void tame(char *text)
{
	for (; *text; text++)
		if (*text == '-')
			*text = '_';
}

/* A text of the description, and where the next one is; NULL: it does not end. */
static char *take_text(char **at, const char *end)
{
	char *text = *at, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*at = nul + 1;
	return text;
}

static int add(struct usdt *usdt, const struct elf *elf, char *desc, const char *end, const uint64_t *base)
{
	const size_t size = elf->is64 ? 8 : 4;
	struct usdt_note note = { 0 }, *more;
	uint64_t moved = 0, semaphore, room;
	char *at = desc + 3 * size, *provider, *name;

	if ((size_t)(end - desc) < 3 * size + 3 || usdt->n == NOTES_MAX)
		return 0;
	if (base)
		moved = *base - elf_word(elf, desc + size, size);
	note.address = elf_word(elf, desc, size) + moved;
	semaphore = elf_word(elf, desc + 2 * size, size);
	provider = take_text(&at, end);
	name = provider ? take_text(&at, end) : NULL;
	note.args = name ? take_text(&at, end) : NULL;
	if (!note.args)
		return 0;
	tame(provider);
	tame(name);
	note.provider = provider;
	note.name = name;
	if (!is_name(provider) || !is_name(name) || !elf_place(elf, note.address, &note.offset, &room))
		return 0;
	if (semaphore && !elf_place(elf, semaphore + moved, &note.semaphore, &room))
		note.semaphore = 0;
	/* By doubling: a file may have thousands. */
	if (!(usdt->n & (usdt->n - 1))) {
		more = reallocarray(usdt->all, usdt->n ? usdt->n * 2 : 1, sizeof(*more));
		if (!more)
			return -ENOMEM;
		usdt->all = more;
	}
	usdt->all[usdt->n++] = note;
	return 0;
}

static int read_notes(struct usdt *usdt, const struct elf *elf, uint64_t len, const uint64_t *base)
{
	uint64_t at = 0;
	int r = 0;

	while (!r && len - at >= 12) {
		uint64_t name = elf_word(elf, usdt->bytes + at, 4), desc = elf_word(elf, usdt->bytes + at + 4, 4);
		uint64_t type = elf_word(elf, usdt->bytes + at + 8, 4), from = at + 12 + ((name + 3) & ~3ull);

		if (from > len || desc > len - from)
			break;
		if (type == NOTE_STAPSDT && name == 8 && !memcmp(usdt->bytes + at + 12, "stapsdt", 8))
			r = add(usdt, elf, usdt->bytes + from, usdt->bytes + from + desc, base);
		at = from + ((desc + 3) & ~3ull);
		if (at > len)
			break;
	}
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct usdt_note *x = a, *y = b;
	int c = strcmp(x->provider, y->provider);

	if (!c)
		c = strcmp(x->name, y->name);
	return c ? c : x->address < y->address ? -1 : x->address > y->address;
}

static bool is_rip(const char *args)
{
	return strstr(args, "(%rip)");
}

static int take_variables(struct usdt *usdt, const struct elf *elf, uint32_t kind)
{
	struct elf_symbols symbols;
	struct elf_symbol symbol;
	int r = elf_symbols_open(&symbols, elf, kind);

	if (r)
		return r == -ENODATA ? 0 : r;
	while (!r && elf_symbols_next(&symbols, &symbol)) {
		struct variable *more;

		if (!symbol.name[0] || !symbol.value || symbol.section == SHN_UNDEF || symbol.type == STT_FUNC)
			continue;
		if (!(usdt->nvariables & (usdt->nvariables - 1))) {
			more = reallocarray(usdt->variables, usdt->nvariables ? usdt->nvariables * 2 : 1, sizeof(*more));
			if (!more)
				r = -ENOMEM;
			else
				usdt->variables = more;
		}
		if (!r) {
			usdt->variables[usdt->nvariables] = (struct variable){ strdup(symbol.name), symbol.value };
			r = usdt->variables[usdt->nvariables].name ? 0 : -ENOMEM;
			usdt->nvariables += !r;
		}
	}
	elf_symbols_close(&symbols);
	return r;
}

static int look_into(struct usdt *usdt, const struct elf *elf)
{
	struct elf_section section, base;
	uint64_t len;
	bool named = false;
	int r;

	if (elf_section_find(elf, ".note.stapsdt", &section) || section.type == SHT_NOBITS)
		return -ENODATA;
	usdt->bytes = elf_section_take(elf, &section, &len);
	if (!usdt->bytes)
		return -ENODATA;
	r = read_notes(usdt, elf, len, elf_section_find(elf, ".stapsdt.base", &base) ? NULL : &base.addr);
	memcpy(usdt->loads, elf->loads, sizeof(usdt->loads));
	usdt->nloads = elf->nloads;
	for (size_t i = 0; i < usdt->n; i++)
		named |= is_rip(usdt->all[i].args);
	if (!r && named)
		r = take_variables(usdt, elf, SHT_SYMTAB);
	if (!r && named && !usdt->nvariables)
		r = take_variables(usdt, elf, SHT_DYNSYM);
	if (usdt->n)
		qsort(usdt->all, usdt->n, sizeof(*usdt->all), compare);
	return r ? r : usdt->n ? 0 : -ENODATA;
}

int usdt_open(struct usdt **out, const char *path, struct err *err)
{
	struct usdt *usdt = calloc(1, sizeof(*usdt));
	struct elf elf;
	int r;

	*out = NULL;
	if (!usdt)
		return err_set(err, -ENOMEM, "out of memory");
	r = elf_open_path(&elf, path, err);
	if (!r) {
		r = look_into(usdt, &elf);
		if (r)
			err_set(err, r, r == -ENODATA ? "%.300s tells of no probes of its own" : "%.300s: out of memory", path);
		elf_close_path(&elf);
	}
	if (r) {
		usdt_close(usdt);
		return r;
	}
	*out = usdt;
	return 0;
}

void usdt_close(struct usdt *usdt)
{
	if (!usdt)
		return;
	for (size_t i = 0; i < usdt->nvariables; i++)
		free(usdt->variables[i].name);
	free(usdt->variables);
	free(usdt->all);
	free(usdt->bytes);
	free(usdt);
}

const struct usdt_note *usdt_at(const struct usdt *usdt, size_t i)
{
	return i < usdt->n ? &usdt->all[i] : NULL;
}

/* ---- arguments ---- */

/* The register of 8 bytes that another is a part of, and which bits. */
static bool find_register(const char *name, size_t len, char out[4], bool *high)
{
	static const char *const olds[] = { "ax", "bx", "cx", "dx", "si", "di", "bp", "sp" };
	char word[6] = "";

	*high = false;
	if (!len || len >= sizeof(word))
		return false;
	memcpy(word, name, len);
	if (word[0] == 'r' && isdigit((unsigned char)word[1])) {
		char *end;
		long n = strtol(word + 1, &end, 10);

		if (word[1] == '0' || n < 8 || n > 15 || (*end && (end[1] || !strchr("dwb", *end))))
			return false;
		*end = '\0';
		memcpy(out, word, 4);
		return true;
	}
	if (len == 3 && (word[0] == 'r' || word[0] == 'e') && word[2] != 'l')
		memmove(word, word + 1, 3);
	/* al, ah, sil. */
	if (strlen(word) == 3 && word[2] == 'l')
		word[2] = '\0';
	else if (strlen(word) == 2 && strchr("abcd", word[0]) && (word[1] == 'l' || word[1] == 'h')) {
		*high = word[1] == 'h';
		word[1] = 'x';
	}
	for (size_t i = 0; i < sizeof(olds) / sizeof(olds[0]); i++)
		if (!strcmp(word, olds[i])) {
			memcpy(out, word, 3);
			return true;
		}
	return false;
}

/* False: there is none, or several files have one of their own. */
static bool find_variable(const struct usdt *usdt, const char *name, size_t len, uint64_t *address)
{
	bool found = false;

	for (size_t i = 0; i < usdt->nvariables; i++) {
		const char *own = usdt->variables[i].name;

		if (strncmp(own, name, len) || (own[len] && own[len] != '@'))
			continue;
		if (found && *address != usdt->variables[i].address)
			return false;
		*address = usdt->variables[i].address;
		found = true;
	}
	return found;
}

/* NUMBER, NAME, NAME+NUMBER, NUMBER+NAME, before (%rip): all are an address. */
static bool put_address(const struct usdt *usdt, const struct usdt_note *note, const char *op, size_t len, struct buf *out)
{
	uint64_t address = 0, offset = 0;
	const char *end = op + len;
	bool named = false;

	while (op < end) {
		bool minus = *op == '-';
		size_t n;

		if (*op == '+' || *op == '-')
			op++;
		n = strspn(op, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.$");
		if (!n || n > (size_t)(end - op))
			return false;
		if (isdigit((unsigned char)*op)) {
			uint64_t number = strtoull(op, NULL, 0);

			offset += minus ? 0 - number : number;
		} else if (named || minus || !find_variable(usdt, op, n, &address)) {
			return false;
		} else {
			named = true;
		}
		op += n;
	}
	/* A number alone counts from the next instruction, of which nobody knows the place. */
	if (!named)
		return false;
	address += offset;
	for (uint32_t i = 0; i < usdt->nloads; i++)
		if (note->address - usdt->loads[i].vaddr < usdt->loads[i].filesz) {
			buf_printf(out, "@+%#" PRIx64, address - usdt->loads[i].vaddr + usdt->loads[i].offset);
			return true;
		}
	return false;
}

/* [OFFSET](%REGISTER) */
static bool put_memory(const struct usdt *usdt, const struct usdt_note *note, const char *op, size_t len, struct buf *out)
{
	const char *open = memchr(op, '(', len);
	char reg[4], *end;
	long long offset = 0;
	bool high;

	if (!open || op[len - 1] != ')' || open[1] != '%')
		return false;
	if (!strncmp(open, "(%rip)", 6))
		return open + 6 == op + len && put_address(usdt, note, op, (size_t)(open - op), out);
	if (open > op) {
		offset = strtoll(op, &end, 0);
		if (end != open)
			return false;
	}
	if (!find_register(open + 2, (size_t)(op + len - 1 - (open + 2)), reg, &high) || high)
		return false;
	buf_printf(out, "%+lld(%%%s)", offset, reg);
	return true;
}

/* SIZE@OPERAND, SIZE of a kind: -4 is signed, 8f is floating. False: it cannot be fetched. */
static bool put_arg(const struct usdt *usdt, const struct usdt_note *note, const char *text, size_t len, struct buf *out)
{
	const char *at = memchr(text, '@', len), *op = at ? at + 1 : text;
	long size = at ? strtol(text, NULL, 10) : 8;
	char style = size < 0 ? 's' : at && at > text && at[-1] == 'f' ? 'x' : 'u', reg[4], *end;
	bool high = false, ok = true;

	len -= (size_t)(op - text);
	size = labs(size);
	if (!len || (size != 1 && size != 2 && size != 4 && size != 8))
		return false;
	if (*op == '$') {
		long long number = strtoll(op + 1, &end, 0);

		if (end != op + len)
			return false;
		buf_printf(out, "\\%lld", number);
	} else if (*op == '%') {
		ok = find_register(op + 1, len - 1, reg, &high);
		if (ok)
			buf_printf(out, "%%%s", reg);
	} else {
		ok = put_memory(usdt, note, op, len, out);
	}
	if (ok && high)
		buf_puts(out, ":b8@8/16");
	else if (ok)
		buf_printf(out, ":%c%ld", style, size * 8);
	return ok;
}

int usdt_put_args(const struct usdt *usdt, const struct usdt_note *note, struct buf *out)
{
	const char *at = note->args + strspn(note->args, " ");
	int left_out = 0;

	for (uint32_t i = 1; *at && i <= ARGS_MAX; i++) {
		struct buf one = BUF_INIT;
		size_t len = strcspn(at, " ");

		if (put_arg(usdt, note, at, len, &one) && !buf_failed(&one))
			buf_printf(out, " arg%u=%s", i, one.data);
		else
			left_out++;
		buf_fini(&one);
		at += len;
		at += strspn(at, " ");
	}
	return left_out;
}
