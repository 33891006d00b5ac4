/*
 * Types of a small kernel that is made here: they are read, declared and fetched as what they are; what goes on in a module
 * knows the base's. Bytes that are damaged, anywhere, are refused or lead nowhere: never out of the file, and never round for ever.
 */
#include <errno.h>
#include <stdlib.h>

#include "btf_shop.h"
#include "symbol/btf_fetch.h"

static struct btf_scope scope;

/* TEXT becomes NAME=BODY at the scope, or, if `want` begins with '!', is refused in words that have the rest of it. */
static void expect(const char *text, const char *want)
{
	struct err err = ERR_INIT;
	struct buf got = BUF_INIT;
	struct btf_arg arg;
	int r = btf_argument(&scope, text, &arg, &err);

	if (*want == '!') {
		CHECK(r < 0 && strstr(err.text, want + 1), "%s: %s", text, r ? err.text : arg.body.data);
		return;
	}
	CHECK(!r, "%s: %s", text, err.text);
	buf_printf(&got, "%s=%s", arg.name, arg.body.data);
	CHECK(!strcmp(got.data, want), "%s: %s, not %s", text, got.data, want);
	btf_arg_fini(&arg);
	buf_fini(&got);
}

static void at_function(const struct btf *btf, const char *name, bool numbered)
{
	memset(&scope, 0, sizeof(scope));
	scope.btf = btf;
	scope.where = name;
	CHECK(btf_put_roots(&scope, btf_function(btf, name), "x86_64", numbered), "%s", name);
}

static void check_texts(const struct btf *btf)
{
	static const char *const want[] = {
		"void shop_close(void)",
		"struct order *shop_next(const volatile struct order *const after)",
		"void shop_paint(long unsigned int *to)",
		("int shop_place(struct order *order, struct pair pair, struct two two, bool quick, struct big big, "
		 "long unsigned int a, short unsigned int b, ...)"),
	};
	struct btf_type type;
	struct btf_member member;
	struct buf out = BUF_INIT;

	for (size_t i = 0; i < 4; i++) {
		buf_reset(&out);
		btf_put_function(btf, btf_function_at(btf, i), &out);
		CHECK(!strcmp(out.data, want[i]), "%s, not %s", out.data, want[i]);
	}
	CHECK(!btf_function_at(btf, 4) && !btf_function(btf, "shop_clos") && !btf_function(btf, ""), "one too many");
	CHECK(btf_peel(btf, btf_find(btf, "customer", 1 << BTF_STRUCT), &type, NULL), "no customer");
	CHECK(btf_member_find(btf, &type, "call", 4, &member), "no call");
	buf_reset(&out);
	btf_put(btf, (struct btf_ref){ member.type, 0 }, member.name, &out);
	CHECK(!strcmp(out.data, "void (*call)(int)"), "%s", out.data);
	buf_reset(&out);
	btf_put(btf, (struct btf_ref){ member.type, 1 }, "", &out);
	CHECK(!strcmp(out.data, "void (**)(int)"), "%s", out.data);
	buf_fini(&out);
}

static void check_members(const struct btf *btf)
{
	at_function(btf, "shop_place", true);
	expect("order", "order=$arg1:x64");
	expect("order->number", "number=+0($arg1):s32");
	expect("order->number:u", "number=+0($arg1):u32");
	expect("order->number:x64", "number=+0($arg1):x64");
	expect("order->kind", "kind=+4($arg1):b3@0/8");
	expect("order->state", "state=+4($arg1):b5@3/8");
	expect("order->state:u8", "state=+4($arg1):b5@3/8");
	expect("order->few", "few=+6($arg1):b2@0/8");
	expect("order->wide", "wide=+6($arg1):b20@2/32");
	expect("order->wide:s32", "!without a sign");
	expect("order->kind.x", "!has no members");
	expect("order->low", "low=+12($arg1):u32");
	expect("order->b", "b=+14($arg1):u16");
	expect("order->customer", "customer=+16($arg1):x64");
	expect("order->customer->name", "name=+0(+16($arg1)):string");
	expect("order->customer->name:x8[4]", "name=+0(+16($arg1)):x8[4]");
	expect("order->customer->name[3]", "name=+3(+16($arg1)):char");
	expect("order->customer[-2].since", "since=-64(+16($arg1)):u64");
	expect("order->customer->call", "call=+24(+16($arg1)):symbol");
	expect("order->customer->note", "note=+32(+16($arg1)):x64");
	expect("order->customer->note:string", "note=+0(+32(+16($arg1))):string");
	expect("order->customer->note[0]", "note=+0(+32(+16($arg1))):char");
	expect("order->shelf[1][2]", "shelf=+44($arg1):u32");
	expect("order->shelf[1]", "shelf=+36($arg1):u32[3]");
	expect("order->shelf", "!no number: name an element");
	expect("order->shelf[2]", "!from [0] to [1]");
	expect("order->at[1].y", "y=+54($arg1):u16");
	expect("order->at[0]", "!is a struct: name a member of it (x, y)");
	expect("order->percpu->number", "!each CPU has its own");
	expect("order->user->number", "number=+u0(+64($arg1)):s32");
	expect("order->user->customer->name", "name=+0(+u16(+64($arg1))):string");
	expect("order->huge", "!no number of 1, 2, 4 or 8 bytes");
	expect("order->colour", "colour=+96($arg1):s32");
	expect("order->unknown->x", "!is not told here");
	expect("order->nmber", "!(did you mean 'number'?)");
	expect("order->zzz", "!it has number, kind, state, few, wide, low, a, b, ...");
	expect("order.number", "!write ->");
	expect("order->at[0]->x", "!write a point");
	expect("order->number->x", "!'int', which has no members");
	expect("order->number[0]", "!no array and no pointer");
	expect("odrer", "!(did you mean 'order'?)");
	expect("order->", "!which member?");
	expect("order->customer->name:strin", "!is no type");
	expect("order->number:string", "!is no text");
	expect("order->number!", "!not understood");
	expect("order->at[x].y", "![ ] needs a number");
	expect("order[2147483647].number", "!too far away");
	expect("", "!which name?");
}

static void check_passed(const struct btf *btf)
{
	at_function(btf, "shop_place", true);
	expect("pair.a", "a=$arg2:u32");
	expect("pair.b", "b=$arg2:b32@32/64");
	expect("pair.b:s32", "!without a sign");
	expect("two.first", "first=$arg3:u64");
	expect("two.second", "second=$arg4:u32");
	expect("two.third", "third=$arg4:b32@32/64");
	expect("two", "!is a struct");
	expect("quick", "quick=$arg5:u8");
	expect("big.all[2]", "all=+24($stack):u64");
	expect("big.all", "all=+8($stack):u64[3]");
	expect("a", "a=$arg6:u64");
	expect("b", "b=$arg10:u16");
	at_function(btf, "shop_place", false);
	expect("order->number", "number=+0(%di):s32");
	expect("two.second", "second=%cx:u32");
	expect("b", "b=$stack4:u16");
	CHECK(!btf_put_roots(&scope, btf_function(btf, "shop_place"), "pdp11", true), "where a PDP-11 has them");
	at_function(btf, "shop_close", true);
	expect("order", "!there is no 'order' at shop_close");
}

static void check_casts(const struct btf *btf)
{
	at_function(btf, "shop_place", true);
	expect("(struct customer *)a->name", "name=+0($arg6):string");
	expect("(customer)a->since", "since=+16($arg6):u64");
	expect("((struct customer *)a)->since", "since=+16($arg6):u64");
	expect("(struct customer *)(order->user)->since", "since=+16(+64($arg1)):u64");
	expect("(order->customer)->since", "since=+16(+16($arg1)):u64");
	expect("((struct customer **)a)[1]->since", "since=+16(+8($arg6)):u64");
	expect("(const char *)a:string", "a=+0($arg6):string");
	expect("(unsigned short *)a[3]", "a=+6($arg6):u16");
	expect("(u8 *)a[3]", "a=+3($arg6):u8");
	expect("(colour_t)a", "a=$arg6:s32");
	expect("a:ustring", "a=+0($arg6):ustring");
	expect("(struct custmer *)a->name", "!no struct 'custmer' (did you mean 'customer'?)");
	expect("(struct customer *a->name", "!");
	expect("(struct customer *)", "!which name?");
	expect("(order->number", "!a ')' is missing");
	expect("order->number)", "!a '(' is missing");
	expect("((((((((((order))))))))))", "!too many parentheses");
	expect("(struct customer ******)a", "!too many pointers");
	expect("(int struct x *)a", "!is no number");
	expect("order->customer->call->x", "!which has no members");
}

/* What goes on where the base ends. */
static void check_module(const struct btf *base, struct made *of_base)
{
	struct made made = { .first = btf_count(base), .names_first = (uint32_t)of_base->names.len };
	uint32_t order = btf_find(base, "order", 1 << BTF_STRUCT), late, proto;
	struct btf *btf;

	late = made_type(&made, "late", BTF_STRUCT, 2, 0, 120);
	made_member(&made, "of", order, 0, 0);
	made_member(&made, "when", btf_find(base, "long unsigned int", 1 << BTF_INT), 896, 0);
	proto = made_type(&made, "", BTF_FUNC_PROTO, 1, 0, 0);
	made_parameter(&made, "late", late + 3);
	made_type(&made, "late_place", BTF_FUNC, 1, 0, proto);
	made_type(&made, "", BTF_PTR, 0, 0, late);
	btf = made_open(&made, base);
	at_function(btf, "late_place", true);
	expect("late->of.customer->since", "since=+16(+16($arg1)):u64");
	expect("late->when", "when=+112($arg1):u64");
	at_function(btf, "shop_place", true);
	expect("order->number", "number=+0($arg1):s32");
	CHECK(!btf_function(base, "late_place"), "the base knows what came later");
	btf_close(btf);
	made_fini(&made);
}

/* Whatever is in there, all of it is looked at. */
static void look(const struct btf *btf)
{
	static const char *const asked[] = { "order->customer->name", "order->low", "order->shelf[1][1]", "(customer)a->since", "two.second",
					     "after->at[1].x", "order->user->kind" };
	struct btf_member member;
	struct buf out = BUF_INIT;
	struct btf_type type;
	uint64_t size;
	char word[8];

	for (uint32_t id = 0; id < btf_count(btf) + 2; id++) {
		buf_reset(&out);
		btf_put(btf, (struct btf_ref){ id, id % 3 }, "x", &out);
		btf_put_function(btf, id, &out);
		btf_size(btf, id, &size);
		btf_word(btf, id, word);
		if (btf_get(btf, id, &type))
			btf_member_find(btf, &type, "low", 3, &member);
		if (!btf_prototype(btf, id, &type))
			continue;
		memset(&scope, 0, sizeof(scope));
		scope.btf = btf;
		scope.where = "here";
		if (!btf_put_roots(&scope, id, "x86_64", true))
			continue;
		for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
			struct btf_arg arg;

			if (!btf_argument(&scope, asked[i], &arg, NULL))
				btf_arg_fini(&arg);
		}
	}
	buf_fini(&out);
}

static int open_copy(const struct buf *file, size_t len)
{
	struct err err = ERR_INIT;
	struct btf *btf;
	int r = btf_open_bytes(&btf, file->data, len, NULL, &err);

	CHECK(r ? r == -EBADMSG && *err.text && !btf : btf && !*err.text, "%d %s", r, err.text);
	if (!r)
		look(btf);
	btf_close(btf);
	return r;
}

static void check_hostile(struct made *made)
{
	struct buf file = made_file(made);
	uint32_t seed = 1;

	for (size_t len = 0; len < file.len; len++)
		CHECK(open_copy(&file, len) == -EBADMSG, "cut off at %zu", len);
	/* Every byte is each of these once, and many are others. */
	for (size_t at = 0; at < file.len; at++) {
		static const uint8_t bytes[] = { 0, 1, 0x7f, 0x80, 0xff };
		char was = file.data[at];

		for (size_t i = 0; i < sizeof(bytes); i++) {
			file.data[at] = (char)bytes[i];
			open_copy(&file, file.len);
		}
		file.data[at] = was;
	}
	for (int i = 0; i < 400; i++) {
		struct buf other = BUF_INIT;

		buf_add(&other, file.data, file.len);
		for (int j = 0; j < 8; j++) {
			seed = seed * 1103515245 + 12345;
			other.data[24 + (seed >> 8) % (file.len - 24)] = (char)(seed >> 24);
		}
		open_copy(&other, other.len);
		buf_fini(&other);
	}
	buf_fini(&file);
}

/* Types that are made of themselves. */
static void check_round(void)
{
	struct made made = { 0 };
	struct btf *btf;
	uint32_t self;

	made_type(&made, "u", BTF_TYPEDEF, 0, 0, 1);
	made_type(&made, "", BTF_PTR, 0, 0, 2);
	made_array(&made, 3, 3, 0xffffffff);
	self = made_type(&made, "s", BTF_STRUCT, 200, 0, 8);
	for (int i = 0; i < 200; i++)
		made_member(&made, "", self, i == 100 ? 0xffffffff : 0, 0);
	made_type(&made, "", BTF_FUNC_PROTO, 300, 0, 5);
	for (int i = 0; i < 300; i++)
		made_parameter(&made, "order", i % 2 ? 5 : 2);
	made_type(&made, "f", BTF_FUNC, 0, 0, 5);
	btf = made_open(&made, NULL);
	look(btf);
	btf_close(btf);
	made_fini(&made);
}

int main(void)
{
	struct made made;
	struct btf *btf;

	shop_make(&made);
	btf = made_open(&made, NULL);
	check_texts(btf);
	check_members(btf);
	check_passed(btf);
	check_casts(btf);
	check_module(btf, &made);
	check_hostile(&made);
	check_round();
	btf_close(btf);
	made_fini(&made);
	return 0;
}
