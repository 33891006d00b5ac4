/*
 * The running kernel's BTF is to us what it is to bpftool: all types, members and parameters, and where a compiler that is given
 * bpftool's declarations puts the members is where we find them, through structs and unions without names too.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "insist.h"
#include "symbol/btf.h"

static const char file[] = BTF_KERNEL "/vmlinux";

static const char *const kinds[BTF_KINDS] = {
	"VOID", "INT", "PTR", "ARRAY", "STRUCT", "UNION", "ENUM", "FWD", "TYPEDEF", "VOLATILE", "CONST", "RESTRICT", "FUNC",
	"FUNC_PROTO", "VAR", "DATASEC", "FLOAT", "DECL_TAG", "TYPE_TAG", "ENUM64",
};

static const char *named(const char *name)
{
	return *name ? name : "(anon)";
}

/* As far as we know it, the first line of a type. */
static void put_type(struct buf *out, uint32_t id, const struct btf_type *type)
{
	buf_printf(out, "[%u] %s '%s'", id, kinds[type->kind], named(type->name));
	switch (type->kind) {
	case BTF_ENUM:
	case BTF_ENUM64:
		buf_printf(out, " encoding=%s", type->flag ? "SIGNED" : "UNSIGNED");
		/* fall through */
	case BTF_STRUCT:
	case BTF_UNION:
	case BTF_DATASEC:
		buf_printf(out, " size=%u vlen=%u", type->size, type->n);
		break;
	case BTF_INT:
	case BTF_FLOAT:
		buf_printf(out, " size=%u", type->size);
		break;
	case BTF_ARRAY:
		buf_printf(out, " type_id=%u index_type_id=", type->type);
		break;
	case BTF_FWD:
		buf_printf(out, " fwd_kind=%s", type->flag ? "union" : "struct");
		break;
	case BTF_FUNC_PROTO:
		buf_printf(out, " ret_type_id=%u vlen=%u", type->type, type->n);
		break;
	default:
		buf_printf(out, " type_id=%u", type->type);
	}
}

/* A line of bpftool's, which may go on where ours ends. */
static void same(FILE *theirs, const struct buf *ours, char **line, size_t *room)
{
	CHECK(getline(line, room, theirs) > 0, "bpftool ends before %s", ours->data);
	CHECK(!strncmp(*line, ours->data, ours->len) && strchr(" ,\n", (*line)[ours->len]), "%s\nis to bpftool %s", ours->data, *line);
}

static void same_members(const struct btf *btf, const struct btf_type *type, FILE *theirs, char **line, size_t *room)
{
	struct buf out = BUF_INIT;
	struct btf_member member;
	const char *name;
	uint32_t id;

	for (uint32_t i = 0; btf_member_at(btf, type, i, &member); i++) {
		buf_reset(&out);
		buf_printf(&out, "\t'%s' type_id=%u bits_offset=%u", named(member.name), member.type, member.bit);
		if (member.bits)
			buf_printf(&out, " bitfield_size=%u", member.bits);
		same(theirs, &out, line, room);
	}
	for (uint32_t i = 0; btf_parameter(btf, type, i, &name, &id); i++) {
		buf_reset(&out);
		buf_printf(&out, "\t'%s' type_id=%u", named(name), id);
		same(theirs, &out, line, room);
	}
	for (uint32_t i = 0; (type->kind == BTF_ENUM || type->kind == BTF_ENUM64 || type->kind == BTF_DATASEC) && i < type->n; i++)
		CHECK(getline(line, room, theirs) > 0 && **line == '\t', "%s of type '%s'", *line, type->name);
	buf_fini(&out);
}

static void check_types(const struct btf *btf)
{
	char command[256], *line = NULL;
	struct buf out = BUF_INIT;
	struct btf_type type;
	size_t room = 0;
	FILE *theirs;

	snprintf(command, sizeof(command), "bpftool btf dump file %s", file);
	theirs = popen(command, "r");
	CHECK(theirs, "bpftool");
	for (uint32_t id = 1; id < btf_count(btf); id++) {
		buf_reset(&out);
		CHECK(btf_get(btf, id, &type), "[%u]", id);
		put_type(&out, id, &type);
		if (type.kind == BTF_ARRAY) {
			CHECK(getline(&line, &room, theirs) > 0 && !strncmp(line, out.data, out.len), "%s", out.data);
			buf_reset(&out);
			buf_printf(&out, " nr_elems=%u\n", type.n);
			CHECK(strstr(line, out.data), "%s has not%s", line, out.data);
		} else {
			same(theirs, &out, &line, &room);
		}
		same_members(btf, &type, theirs, &line, &room);
	}
	CHECK(getline(&line, &room, theirs) < 0, "bpftool goes on: %s", line);
	CHECK(!pclose(theirs), "bpftool");
	free(line);
	buf_fini(&out);
}

struct asserts {
	const struct btf *btf;
	FILE *out;
	const char *name;
	bool odd;
	uint32_t size;
	unsigned int n;
};

static bool put_assert(void *ctx, const struct btf_member *member)
{
	struct asserts *asserts = ctx;

	if (member->bits)
		return true;
	/* A few declarations of bpftool's lack an alignment, and are of another size. */
	fprintf(asserts->out, "_Static_assert(sizeof(struct %s) != %u || __builtin_offsetof(struct %s, %s) == %u, \"%s.%s\");\n",
		asserts->name, asserts->size, asserts->name, member->name, member->bit / 8, asserts->name, member->name);
	asserts->n++;
	return true;
}

/* An enum of less than an int is one of an int in bpftool's declarations. */
static bool is_plain(void *ctx, const struct btf_member *member)
{
	struct asserts *asserts = ctx;
	struct btf_type type;

	asserts->odd |= btf_peel(asserts->btf, member->type, &type, NULL) && type.kind == BTF_ENUM && type.size < 4;
	return !asserts->odd;
}

/* Structs that are called as no other is: of those bpftool makes up names for all but one. */
static void check_places(const struct btf *btf, const char *scratch)
{
	char path[1024], command[2048];
	struct map seen = MAP_INIT;
	struct asserts asserts = { .btf = btf };
	struct btf_type type;

	snprintf(path, sizeof(path), "%s/btf.c", scratch);
	snprintf(command, sizeof(command), "bpftool btf dump file %s format c >'%s'", file, path);
	CHECK(!system(command), "%s", command);
	asserts.out = fopen(path, "a");
	CHECK(asserts.out, "%s", path);
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t id = 1; id < btf_count(btf); id++) {
			uint32_t *times;

			if (!btf_get(btf, id, &type) || !*type.name ||
			    !(1 << type.kind & (1 << BTF_STRUCT | 1 << BTF_UNION | 1 << BTF_ENUM | 1 << BTF_FWD)))
				continue;
			times = map_get(&seen, type.name, strlen(type.name), sizeof(*times));
			CHECK(times, "memory");
			*times += !pass;
			asserts.name = type.name;
			asserts.size = type.size;
			asserts.odd = false;
			btf_members(btf, &type, is_plain, &asserts);
			if (pass && *times == 1 && type.kind == BTF_STRUCT && !asserts.odd)
				btf_members(btf, &type, put_assert, &asserts);
		}
	CHECK(!fclose(asserts.out) && asserts.n > 10000, "%u members", asserts.n);
	snprintf(command, sizeof(command), "${CC:-gcc} -w -fsyntax-only -fms-extensions '%s'", path);
	CHECK(!system(command), "the compiler has members elsewhere");
	printf("%u types, %u places of members\n", btf_count(btf), asserts.n);
	map_fini(&seen);
	unlink(path);
}

int main(void)
{
	const char *scratch = getenv("RINGSIDE_SCRATCH");
	struct err err = ERR_INIT;
	struct btf *btf;
	char path[4096];

	if (access(file, R_OK)) {
		printf("this kernel has no %s\n", file);
		return 77;
	}
	/* Debian has it where root looks. */
	if (snprintf(path, sizeof(path), "%s:/usr/sbin", getenv("PATH")) < (int)sizeof(path))
		setenv("PATH", path, 1);
	if (system("bpftool version >/dev/null 2>&1")) {
		puts("there is no bpftool");
		return 77;
	}
	CHECK(scratch, "where am I?");
	CHECK(!btf_open(&btf, file, NULL, &err), "%s", err.text);
	check_types(btf);
	check_places(btf, scratch);
	btf_close(btf);
	return 0;
}
