/*
 * Any bytes for BTF: they are refused in words, or each type has a text, each struct members within bounds, and each function
 * parameters of which arguments are made. The first byte says whether the rest is a base and a module, and where that begins.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/btf_fetch.h"
#include "symbol/fetch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct btf_scope scope;

static void ask(const char *text)
{
	struct err err = ERR_INIT;
	struct btf_arg arg;

	if (btf_argument(&scope, text, &arg, &err)) {
		if (!*err.text)
			abort();
		return;
	}
	if (arg.body.len > FETCH_MAX || strpbrk(arg.body.data, " \n"))
		abort();
	btf_arg_fini(&arg);
}

static bool see(void *ctx, const struct btf_member *member)
{
	struct buf text = BUF_INIT;

	(void)ctx;
	/* Its name is the file's, and may be anything. */
	buf_printf(&text, "%s->%s", scope.n ? scope.roots[0].name : "order", member->name);
	if (text.data)
		ask(text.data);
	buf_fini(&text);
	return true;
}

static void look(const struct btf *btf)
{
	static const char *const asked[] = { "order->customer->name", "order->low", "order->shelf[1][1]", "(customer)a->since", "two.second",
					     "(struct order *)(order->user)->kind", "order:string", "(u8)a", "pair.b", "big.all" };
	struct btf_type type;
	struct buf out = BUF_INIT;
	uint64_t bytes;
	uint32_t left = 64;
	char word[8];

	for (uint32_t id = 0; id <= btf_count(btf) && id < 2000; id++) {
		buf_reset(&out);
		btf_put(btf, (struct btf_ref){ id, 0 }, "x", &out);
		if (!out.len)
			abort();
		btf_size(btf, id, &bytes);
		btf_word(btf, id, word);
		if (!btf_get(btf, id, &type) || !left)
			continue;
		memset(&scope, 0, sizeof(scope));
		scope.btf = btf;
		scope.where = "here";
		if (type.kind == BTF_FUNC && btf_put_roots(&scope, id, "x86_64", left & 1)) {
			left--;
			for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
				ask(asked[i]);
		}
		if ((type.kind == BTF_STRUCT || type.kind == BTF_UNION) && type.n < 64) {
			left--;
			scope.n = 1;
			scope.roots[0] = (struct btf_root){ .name = "x", .fetch = { "$arg1" }, .type = { id, 1 } };
			btf_members(btf, &type, see, NULL);
		}
	}
	buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct btf *btf, *module;
	size_t first;

	if (!size)
		return 0;
	first = data[0] ? (size - 1) * data[0] / 255 : size - 1;
	if (btf_open_bytes(&btf, data + 1, first, NULL, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	look(btf);
	if (!btf_open_bytes(&module, data + 1 + first, size - 1 - first, btf, NULL)) {
		look(module);
		btf_close(module);
	}
	btf_close(btf);
	return 0;
}
