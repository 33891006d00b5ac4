/*
 * trigger/probe_fetch: where an argument of a probe comes from.
 *
 *   $FIELD (e)  $argN  NAME[->MEMBER]  $retval[->MEMBER]  %REGISTER  $stack  $stackN  $comm
 *   \NUMBER  \"TEXT"  @ADDRESS  @SYMBOL[+-OFFSET]  @+OFFSET-IN-FILE  +-[u]OFFSET(FETCH)
 *
 * What a function was given or gives back is in registers and on the stack: so these are what such a fetch becomes.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "layout/prototype.h"
#include "trigger/probe.h"

#define OPS_MAX 15
#define STACK_MAX 2048
#define WORD 8

static const char too_deep[] = "Dereference is too much nested";
static const char bad_variable[] = "Invalid $-variable specified";
static const char not_found[] = "This variable is not found at this probe point";

static struct spec_fetch *new_fetch(struct probe_read *read, int what)
{
	struct spec_fetch *fetch = read_alloc(read->mem, sizeof(*fetch));

	if (fetch)
		fetch->what = what;
	return fetch;
}

int probe_step(struct probe_read *read)
{
	return ++read->ops == OPS_MAX ? probe_refuse(read, -EINVAL, too_deep, read->offset) : 0;
}

static bool is_comm(const char *name)
{
	return !strcmp(name, "comm") || !strcmp(name, "COMM");
}

static int read_field(struct probe_read *read, const char *name, const struct spec_fetch **out)
{
	const struct decode_field *field = read->format ? decode_format_find(read->format, name) : NULL;
	struct spec_fetch *fetch;

	if ((!field || field->is_common) && is_comm(name)) {
		*out = new_fetch(read, FETCH_COMM);
		return *out ? 0 : -ENOMEM;
	}
	if ((!field || field->is_common) && (read->format || !read_is_name(name)))
		return probe_refuse(read, -EINVAL, bad_variable, read->offset);
	fetch = new_fetch(read, FETCH_FIELD);
	if (!fetch)
		return -ENOMEM;
	if (!read_copy_name(fetch->name, name))
		return probe_refuse(read, -EINVAL, bad_variable, read->offset);
	*out = fetch;
	return 0;
}

/* A number with a sign of its own. */
static int read_signed(const char *text, int64_t *out)
{
	bool negative = text[0] == '-';
	uint64_t number;

	if (text[negative] == '+' || read_number(text + negative, &number) || number > (uint64_t)INT64_MAX + negative)
		return -EINVAL;
	*out = (int64_t)(negative ? 0 - number : number);
	return 0;
}

static int read_immediate(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_NUMBER);
	size_t len = strlen(text);
	int64_t number;
	int ret;

	if (!fetch)
		return -ENOMEM;
	*out = fetch;
	if (text[0] == '"') {
		if (len < 2 || text[len - 1] != '"')
			return probe_refuse(read, -EINVAL, "String is not closed with '\"'", read->offset + 1 + len);
		fetch->what = FETCH_LITERAL;
		fetch->literal = read_dup(read->mem, text + 1, len - 2);
		return fetch->literal ? 0 : -ENOMEM;
	}
	if (isdigit((unsigned char)text[0])) {
		ret = read_number(text, &fetch->number);
	} else {
		ret = text[0] == '-' || text[0] == '+' ? read_signed(text + (text[0] == '+'), &number) : -EINVAL;
		if (!ret)
			fetch->number = (uint64_t)number;
	}
	return ret ? probe_refuse(read, -EINVAL, "Invalid immediate value", read->offset + 1) : 0;
}

struct spec_fetch *probe_peek(struct probe_read *read, const struct spec_fetch *of, int64_t offset)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_PEEK);

	if (fetch) {
		fetch->of = of;
		fetch->offset = offset;
	}
	return fetch;
}

/* A symbol's address is that of the symbol space: who reads there finds what the program has there that comes by. */
static int read_symbol(struct probe_read *read, char *text, struct spec_fetch *fetch)
{
	char *sign = strpbrk(text, "+-");
	const struct spec_world *world = read->world;
	bool found;
	uint64_t end;

	if (sign && read_signed(sign + (*sign == '+'), &fetch->offset))
		return read_refuse_silently(read->error, -EINVAL, "bad offset: %.40s", sign);
	if (sign)
		*sign = '\0';
	found = (world->function && world->function(world->arg, text, &fetch->number, &end)) ||
		(world->data && world->data(world->arg, text, &fetch->number, &end));
	if (!spec_probe_is_code(read->probe)) {
		fetch->number += (uint64_t)fetch->offset;
		return found ? 0 : read_refuse_silently(read->error, -ENOENT, "no function and no data are called %.80s", text);
	}
	fetch->what = FETCH_SYMBOL;
	read->is_missing |= !found || !read_copy_name(fetch->name, text);
	return 0;
}

static int read_in_file(struct probe_read *read, const char *text, struct spec_fetch *fetch)
{
	int64_t offset;

	if (!probe_is_user(read->probe))
		return probe_refuse(read, -EINVAL, "File offset is not available with kprobe", read->offset);
	if (read_signed(text, &offset))
		return probe_refuse(read, -EINVAL, "Invalid file offset value", read->offset);
	fetch->what = FETCH_FILE;
	fetch->number = (uint64_t)offset;
	return 0;
}

static int read_memory(struct probe_read *read, char *text, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_NUMBER);
	int ret = 0;

	if (!fetch)
		return -ENOMEM;
	if (isdigit((unsigned char)text[0])) {
		if (read_number(text, &fetch->number))
			return probe_refuse(read, -EINVAL, "Invalid memory address", read->offset);
	} else if (text[0] == '+') {
		ret = read_in_file(read, text + 1, fetch);
	} else if (probe_is_user(read->probe)) {
		return probe_refuse(read, -EINVAL, "Symbol is not available with uprobe", read->offset);
	} else {
		ret = read_symbol(read, text, fetch);
	}
	if (!ret)
		ret = probe_step(read);
	if (ret)
		return ret;
	*out = probe_peek(read, fetch, 0);
	read->is_memory = true;
	return *out ? 0 : -ENOMEM;
}

/* ---- What a function was given, gives back, has on its stack ---- */

static int read_register(struct probe_read *read, const char *name, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_REGISTER);

	if (!fetch)
		return -ENOMEM;
	read_copy_name(fetch->name, name);
	*out = fetch;
	return 0;
}

static int read_named_register(struct probe_read *read, const char *name, const struct spec_fetch **out)
{
	static const char *const names[] = {
		"ip", "ax", "bx", "cx", "dx", "si", "di", "bp", "sp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "flags",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(names[i], name))
			return read_register(read, name, out);
	}
	return probe_refuse(read, -EINVAL, "Invalid register name", read->offset);
}

static int read_on_stack(struct probe_read *read, uint64_t words, const struct spec_fetch **out)
{
	const struct spec_fetch *sp = NULL;
	int ret = read_register(read, "sp", &sp);

	if (ret)
		return ret;
	*out = probe_peek(read, sp, (int64_t)words * WORD);
	return *out ? 0 : -ENOMEM;
}

/* A number of the digits alone. */
static bool read_digits(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return !*end && !errno;
}

static int read_stack(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	uint64_t n;

	if (*text && !read_digits(text, &n))
		return probe_refuse(read, -EINVAL, bad_variable, read->offset);
	if (*text && n > (probe_is_user(read->probe) ? UINT32_MAX : STACK_MAX))
		return probe_refuse(read, -EINVAL, "Invalid stack number", read->offset);
	return *text ? read_on_stack(read, n, out) : read_register(read, "sp", out);
}

/* The n-th register for arguments, from 0; then what the caller put on the stack. Registers are kept for who asks at the return. */
static int read_given(struct probe_read *read, uint32_t n, const struct spec_fetch **out)
{
	static const char *const at_entry[PROTOTYPE_REGISTERS] = { "di", "si", "dx", "cx", "r8", "r9" };
	static const char *const at_exit[PROTOTYPE_REGISTERS] = { "arg1", "arg2", "arg3", "arg4", "arg5", "arg6" };

	if (read->probe->returns && n >= PROTOTYPE_REGISTERS)
		return read_refuse_silently(read->error, -EINVAL, "when a function returns only its first %u arguments are known",
					    PROTOTYPE_REGISTERS);
	read->probe->saves |= read->probe->returns;
	if (n < PROTOTYPE_REGISTERS)
		return read_register(read, read->probe->returns ? at_exit[n] : at_entry[n], out);
	return read_on_stack(read, n - PROTOTYPE_REGISTERS + 1, out);
}

static int read_declared(struct probe_read *read, uint32_t n, const struct spec_fetch **out)
{
	struct spec_fetch *fetch = new_fetch(read, FETCH_FIELD);

	if (!fetch)
		return -ENOMEM;
	if (n >= read->nparams || !read_copy_name(fetch->name, read->params[n].name))
		return probe_refuse(read, -EINVAL, "Invalid argument number", read->offset);
	*out = fetch;
	return 0;
}

/* Where debug information does not say it, parameters are taken to be numbers and pointers. */
static int read_param(struct probe_read *read, uint32_t n, const struct spec_fetch **out)
{
	const struct probe_param *param = n < read->nparams ? &read->params[n] : NULL;

	if (read->probe->kind == SPEC_PROBE_TRACEPOINT)
		return read_declared(read, n, out);
	if (param && param->at < 0)
		return read_refuse_silently(read->error, -EOPNOTSUPP, "parameter %u is in no general register: it is a real "
					    "number, a structure, or one of too many", n + 1);
	return read_given(read, param ? (uint32_t)param->at : n, out);
}

static int read_arg(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	uint64_t n;

	if (!read_digits(text, &n))
		return probe_refuse(read, -EINVAL, bad_variable, read->offset);
	if (!n || n > STACK_MAX)
		return probe_refuse(read, -EINVAL, "Invalid argument number", read->offset);
	if (!probe_has_params(read))
		return probe_refuse(read, -EINVAL, "$arg* can be used only on function entry or exit", read->offset);
	return read_param(read, (uint32_t)n - 1, out);
}

/* NAME, and $retval as it is one where functions are known. */
static int read_plain(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	const struct probe_param *param = &read->returned;
	const size_t len = strcspn(text, "-.");
	int n, ret;

	if (!probe_has_params(read))
		return probe_refuse(read, -EINVAL, "BTF is not available or not supported", read->offset);
	for (size_t i = len; text[i]; i++)
		if (text[i] == '-' && text[i + 1] != '>')
			return probe_refuse(read, -EINVAL, "Failed to parse single hyphen. Forgot '>'?", read->offset + i);
	if (text[len] == '.')
		return probe_refuse(read, -EOPNOTSUPP, "Non pointer structure/union argument is not supported.", read->offset + len + 1);
	if (len == 7 && !memcmp(text, "$retval", 7)) {
		if (param->kind == 'v')
			return probe_refuse(read, -ENOENT, "This function returns 'void' type", read->offset);
		ret = read_register(read, "ax", out);
	} else {
		n = probe_param(read, text, len);
		if (n < 0)
			return probe_refuse(read, -ENOENT, read->knows_params ? not_found : "No BTF entry for this probe point",
					    read->offset);
		param = &read->params[n];
		ret = read_param(read, (uint32_t)n, out);
	}
	if (!ret && text[len])
		return probe_read_member(read, text, len, param, out);
	read->last = param->kind ? param : NULL;
	return ret;
}

static int read_variable(struct probe_read *read, const char *text, const struct spec_fetch **out)
{
	const char *name = text + 1;

	if (read->probe->kind == SPEC_PROBE_EVENT)
		return read_field(read, name, out);
	if (!strncmp(name, "retval", 6)) {
		if (!read->probe->returns)
			return probe_refuse(read, -EINVAL, "$retval is not available on probe", read->offset);
		if (!probe_is_user(read->probe))
			return read_plain(read, text, out);
		return name[6] ? probe_refuse(read, -EINVAL, bad_variable, read->offset) : read_register(read, "ax", out);
	}
	if (!strncmp(name, "stack", 5))
		return read_stack(read, name + 5, out);
	if (!strncmp(name, "arg", 3))
		return read_arg(read, name + 3, out);
	if (!is_comm(name))
		return probe_refuse(read, -EINVAL, bad_variable, read->offset);
	*out = new_fetch(read, FETCH_COMM);
	return *out ? 0 : -ENOMEM;
}

/* ---- All of them ---- */

/*
 * +OFFSET(...): `u` says that the memory is a program's, as all memory is here. The caret of what is wrong inside counts
 * without it.
 */
static int read_deref(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out)
{
	const struct spec_fetch *of = NULL;
	bool inner;
	char *open, *close;
	int64_t offset;
	size_t here;
	int ret;

	*user = text[1] == 'u';
	if (*user) {
		text[1] = text[0];
		text++;
	}
	if (text[0] == '+')
		text++;
	open = strchr(text, '(');
	if (!open)
		return probe_refuse(read, -EINVAL, "Dereference needs a brace", read->offset);
	*open = '\0';
	if (read_signed(text, &offset))
		return probe_refuse(read, -EINVAL, "Invalid dereference offset", read->offset);
	read->offset += (size_t)(open + 1 - text) + (text[0] != '-');
	here = read->offset;
	text = open + 1;
	close = strrchr(text, ')');
	if (!close)
		return probe_refuse(read, -EINVAL, "Dereference brace is not closed", read->offset + strlen(text));
	*close = '\0';
	ret = probe_read_fetch(read, text, &inner, &of);
	if (ret)
		return ret;
	read->offset = here;
	if (of->what == FETCH_COMM || of->what == FETCH_LITERAL)
		return probe_refuse(read, -EINVAL, "$comm can not be dereferenced", read->offset);
	ret = probe_step(read);
	if (ret)
		return ret;
	*out = probe_peek(read, of, offset);
	read->is_memory = true;
	read->last = NULL;
	return *out ? 0 : -ENOMEM;
}

int probe_read_fetch(struct probe_read *read, char *text, bool *user, const struct spec_fetch **out)
{
	*user = false;
	read->is_memory = false;
	read->last = NULL;
	read->bits = 0;
	switch (text[0]) {
	case '$':
		return read_variable(read, text, out);
	case '%':
		if (read->probe->kind == SPEC_PROBE_CODE || read->probe->kind == SPEC_PROBE_FILE)
			return read_named_register(read, text + 1, out);
		break;
	case '@':
		return read_memory(read, text + 1, out);
	case '+':
	case '-':
		return read_deref(read, text, user, out);
	case '\\':
		return read_immediate(read, text + 1, out);
	default:
		if (isalpha((unsigned char)text[0]) || text[0] == '_')
			return read_plain(read, text, out);
	}
	return probe_refuse(read, -EINVAL, "Invalid fetch argument", read->offset);
}
