/*
 * symbol/btf: see btf.h. The file, the table of its types, and its functions.
 *
 *   header | types, one behind the other, each of a length that its kind tells | names
 *
 * All of it is walked once: behind btf_open() every type is whole within the bytes, and the names end in NUL.
 */
#include "symbol/btf.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAGIC 0xeb9fu
#define HEADER 24u
#define RECORD 12u	/* name, kind and the like, size or type */
#define PIECE (1u << 20)
#define BYTES_MAX (256u << 20)
#define TYPES_MAX (16u << 20)

struct btf {
	const struct btf *base;
	uint8_t *bytes;
	const char *names;
	uint32_t names_first, names_len;	/* of the base and of its own */
	uint32_t first, n;			/* number of its first type; how many it has */
	const uint8_t **at;			/* of each of them */
	uint32_t *functions;			/* by name */
	size_t nfunctions;
};

static uint32_t get(const uint8_t *bytes)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* ---- one type ---- */

static const char *name_at(const struct btf *btf, uint32_t at)
{
	if (btf->base && at < btf->names_first)
		return name_at(btf->base, at);
	at -= btf->names_first;
	return at < btf->names_len ? btf->names + at : "";
}

/* Bytes behind the record: for each kind some, and some for each of its members. -1: the kind is not known. */
static int64_t more_of(uint32_t kind, uint32_t n)
{
	static const struct {
		uint8_t once, each;
	} more[BTF_KINDS] = {
		[BTF_INT] = { 4, 0 }, [BTF_ARRAY] = { 12, 0 }, [BTF_STRUCT] = { 0, 12 }, [BTF_UNION] = { 0, 12 },
		[BTF_ENUM] = { 0, 8 }, [BTF_FUNC_PROTO] = { 0, 8 }, [BTF_VAR] = { 4, 0 }, [BTF_DATASEC] = { 0, 12 },
		[BTF_DECL_TAG] = { 4, 0 }, [BTF_ENUM64] = { 0, 12 },
	};

	if (kind == BTF_VOID || kind >= BTF_KINDS)
		return -1;
	return more[kind].once + (int64_t)more[kind].each * n;
}

static void take(const struct btf *btf, const uint8_t *at, struct btf_type *type)
{
	uint32_t info = get(at + 4), last = get(at + 8);

	*type = (struct btf_type){
		.kind = info >> 24 & 31,
		.name = name_at(btf, get(at)),
		.flag = info >> 31,
		.n = info & 0xffff,
		.more = at + RECORD,
	};
	switch (type->kind) {
	case BTF_INT:
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_ENUM:
	case BTF_ENUM64:
	case BTF_DATASEC:
	case BTF_FLOAT:
		type->size = last;
		break;
	case BTF_ARRAY:
		type->type = get(type->more);
		type->n = get(type->more + 8);
		break;
	case BTF_FWD:
		break;
	default:
		type->type = last;
	}
}

uint32_t btf_count(const struct btf *btf)
{
	return btf->first + btf->n;
}

bool btf_get(const struct btf *btf, uint32_t id, struct btf_type *type)
{
	while (btf->base && id < btf->first)
		btf = btf->base;
	if (!id || id - btf->first >= btf->n)
		return false;
	take(btf, btf->at[id - btf->first], type);
	return true;
}

/* ---- functions ---- */

struct named {
	const char *name;
	uint32_t id;
};

static int compare(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int r = strcmp(x->name, y->name);

	return r ? r : x->id < y->id ? -1 : 1;
}

static int sort_functions(struct btf *btf)
{
	struct named *all = btf->n ? calloc(btf->n, sizeof(*all)) : NULL;
	struct btf_type type;

	if (btf->n && !all)
		return -ENOMEM;
	for (uint32_t i = 0; i < btf->n; i++) {
		take(btf, btf->at[i], &type);
		if (type.kind == BTF_FUNC && *type.name)
			all[btf->nfunctions++] = (struct named){ type.name, btf->first + i };
	}
	if (btf->nfunctions) {
		qsort(all, btf->nfunctions, sizeof(*all), compare);
		btf->functions = calloc(btf->nfunctions, sizeof(*btf->functions));
	}
	for (size_t i = 0; btf->functions && i < btf->nfunctions; i++)
		btf->functions[i] = all[i].id;
	free(all);
	return btf->nfunctions && !btf->functions ? -ENOMEM : 0;
}

uint32_t btf_function_at(const struct btf *btf, size_t i)
{
	return i < btf->nfunctions ? btf->functions[i] : 0;
}

uint32_t btf_function(const struct btf *btf, const char *name)
{
	for (; btf; btf = btf->base) {
		size_t low = 0, high = btf->nfunctions;
		struct btf_type type;

		while (low < high) {
			size_t middle = low + (high - low) / 2;

			if (btf_get(btf, btf->functions[middle], &type) && strcmp(type.name, name) < 0)
				low = middle + 1;
			else
				high = middle;
		}
		if (low < btf->nfunctions && btf_get(btf, btf->functions[low], &type) && !strcmp(type.name, name))
			return btf->functions[low];
	}
	return 0;
}

bool btf_prototype(const struct btf *btf, uint32_t id, struct btf_type *prototype)
{
	struct btf_type function;

	return btf_get(btf, id, &function) && function.kind == BTF_FUNC && btf_get(btf, function.type, prototype) &&
	       prototype->kind == BTF_FUNC_PROTO;
}

bool btf_parameter(const struct btf *btf, const struct btf_type *prototype, uint32_t i, const char **name, uint32_t *type)
{
	if (prototype->kind != BTF_FUNC_PROTO || i >= prototype->n)
		return false;
	*name = name_at(btf, get(prototype->more + 8 * i));
	*type = get(prototype->more + 8 * i + 4);
	return true;
}

/* ---- members, which are bytes of a type, too ---- */

bool btf_member_at(const struct btf *btf, const struct btf_type *type, uint32_t i, struct btf_member *member)
{
	uint32_t where;

	if ((type->kind != BTF_STRUCT && type->kind != BTF_UNION) || i >= type->n)
		return false;
	where = get(type->more + 12 * i + 8);
	*member = (struct btf_member){
		.name = name_at(btf, get(type->more + 12 * i)),
		.type = get(type->more + 12 * i + 4),
		.bit = type->flag ? where & 0xffffff : where,
		.bits = type->flag ? where >> 24 : 0,
	};
	return true;
}

/* ---- opening ---- */

static int damaged(struct err *err, const char *what)
{
	return err_set(err, -EBADMSG, "damaged: %s", what);
}

static int walk(struct btf *btf, const uint8_t *types, uint32_t len, struct err *err)
{
	uint32_t n = 0;

	/* Twice: once to count them. */
	for (int pass = 0; pass < 2; pass++) {
		n = 0;
		for (uint32_t at = 0; at < len; n++) {
			uint32_t info;
			int64_t more;

			if (len - at < RECORD)
				return damaged(err, "a type is cut off");
			info = get(types + at + 4);
			more = more_of(info >> 24 & 31, info & 0xffff);
			if (more < 0)
				return err_set(err, -EBADMSG, "type %" PRIu32 " is of kind %u, which is not known", btf->first + n,
					       info >> 24 & 31);
			if (more > len - at - RECORD)
				return damaged(err, "a type is cut off");
			if (pass)
				btf->at[n] = types + at;
			at += RECORD + (uint32_t)more;
		}
		if (n > TYPES_MAX || n > UINT32_MAX - btf->first)
			return damaged(err, "too many types");
		if (!pass && n && !(btf->at = calloc(n, sizeof(*btf->at))))
			return err_set(err, -ENOMEM, "out of memory");
	}
	btf->n = n;
	return 0;
}

/* Takes the bytes. */
static int read_header(struct btf *btf, size_t size, struct err *err)
{
	const uint8_t *bytes = btf->bytes;
	uint32_t head, types, types_len, names;
	uint16_t magic;

	if (size < HEADER)
		return err_set(err, -EBADMSG, "no BTF: it is too short");
	memcpy(&magic, bytes, sizeof(magic));
	if (magic == __builtin_bswap16(MAGIC))
		return err_set(err, -EBADMSG, "BTF of the other byte order");
	if (magic != MAGIC)
		return err_set(err, -EBADMSG, "no BTF: it does not begin as one");
	if (bytes[2] != 1)
		return err_set(err, -EBADMSG, "BTF of version %u, which is not known", bytes[2]);
	head = get(bytes + 4);
	types = get(bytes + 8);
	types_len = get(bytes + 12);
	names = get(bytes + 16);
	btf->names_len = get(bytes + 20);
	if (head < HEADER || head > size || types > size - head || types_len > size - head - types || names > size - head ||
	    btf->names_len > size - head - names)
		return damaged(err, "its parts are not within it");
	btf->names = (const char *)bytes + head + names;
	if (btf->names_len && btf->names[btf->names_len - 1])
		return damaged(err, "its names do not end");
	return walk(btf, bytes + head + types, types_len, err);
}

static int take_bytes(struct btf **out, uint8_t *bytes, size_t size, const struct btf *base, struct err *err)
{
	struct btf *btf = calloc(1, sizeof(*btf));
	int r;

	*out = NULL;
	if (!btf) {
		free(bytes);
		return err_set(err, -ENOMEM, "out of memory");
	}
	btf->bytes = bytes;
	btf->base = base;
	btf->first = base ? btf_count(base) : 1;
	btf->names_first = base ? base->names_first + base->names_len : 0;
	r = read_header(btf, size, err);
	if (!r && (r = sort_functions(btf)))
		err_set(err, r, "out of memory");
	if (r)
		btf_close(btf);
	else
		*out = btf;
	return r;
}

int btf_open_bytes(struct btf **out, const void *bytes, size_t size, const struct btf *base, struct err *err)
{
	uint8_t *copy = malloc(size ? size : 1);

	*out = NULL;
	if (!copy)
		return err_set(err, -ENOMEM, "out of memory");
	if (size)
		memcpy(copy, bytes, size);
	return take_bytes(out, copy, size, base, err);
}

static int read_file(struct buf *out, const char *path, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;
	char *room;

	if (fd < 0)
		return err_set(err, -errno, "%.300s: %s", path, strerror(errno));
	while (out->len <= BYTES_MAX && (room = buf_room(out, PIECE)) && (n = read(fd, room, PIECE)) > 0)
		out->len += (size_t)n;
	n = n < 0 ? -errno : 0;
	close(fd);
	if (n)
		return err_set(err, (int)n, "%.300s: %s", path, strerror((int)-n));
	if (buf_failed(out))
		return err_set(err, -ENOMEM, "out of memory");
	return out->len > BYTES_MAX ? err_set(err, -EFBIG, "%.300s: too large", path) : 0;
}

int btf_open(struct btf **out, const char *path, const struct btf *base, struct err *err)
{
	struct buf bytes = BUF_INIT;
	struct err why = ERR_INIT;
	int r = read_file(&bytes, path, err);

	*out = NULL;
	if (r) {
		buf_fini(&bytes);
		return r;
	}
	r = take_bytes(out, (uint8_t *)bytes.data, bytes.len, base, &why);
	return r ? err_set(err, r, "%.300s: %s", path, why.text) : 0;
}

void btf_close(struct btf *btf)
{
	if (!btf)
		return;
	free(btf->functions);
	free(btf->at);
	free(btf->bytes);
	free(btf);
}
