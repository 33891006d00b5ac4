/*
 * BTF of a small kernel: what places orders there, with types of every kind.
 *
 *   struct customer { char name[16]; u64 since; void (*call)(int); const char *note; };
 *   struct order {
 *           int number;                        at 0
 *           u8 kind : 3, state : 5;            at 4
 *           u8 few : 2;  s32 wide : 20;        at 5, bits 48 and 50: not within a word of its type
 *           union { u32 low; struct { u16 a, b; }; };   at 12
 *           struct customer *customer;         at 16
 *           u32 shelf[2][3];                   at 24
 *           struct { u16 x, y; } at[2];        at 48
 *           struct order *percpu, *user;       at 56, 64: by tags
 *           __int128 huge;                     at 80
 *           enum colour colour;                at 96
 *           struct unknown *unknown;           at 104
 *   };
 *   struct pair { u32 a, b; }; struct two { u64 first; u32 second; s32 third; }; struct big { u64 all[3]; };
 *
 *   int shop_place(struct order *order, struct pair pair, struct two two, bool quick, struct big big, u64 a, u16 b, ...);
 *   void shop_close(void);  struct order *shop_next(const volatile struct order *const after);
 *   void shop_paint(unsigned long *to);
 */
#ifndef TESTS_SYMBOL_BTF_SHOP_H
#define TESTS_SYMBOL_BTF_SHOP_H

#include "btf_made.h"

struct shop {
	uint32_t order, customer, place, close, next;
	uint32_t u8, u16, u32, s32, u64, character, boolean, handler;
};

static inline void shop_numbers(struct made *made, struct shop *shop)
{
	shop->character = made_int(made, "char", 1, 1);
	shop->u8 = made_type(made, "u8", BTF_TYPEDEF, 0, 0, made_int(made, "unsigned char", 1, 0));
	shop->u16 = made_int(made, "short unsigned int", 2, 0);
	shop->u32 = made_int(made, "unsigned int", 4, 0);
	shop->s32 = made_int(made, "int", 4, 1);
	shop->u64 = made_int(made, "long unsigned int", 8, 0);
	shop->boolean = made_type(made, "bool", BTF_TYPEDEF, 0, 0, made_int(made, "_Bool", 1, 4));
	/* void (*)(int) */
	shop->handler = made_type(made, "", BTF_PTR, 0, 0, 0);
}

/* The pointer was made before what it points to: its type is written anew. */
static inline void shop_point(struct made *made, uint32_t id, uint32_t to)
{
	size_t at = 0;

	for (uint32_t i = 1; i < id; i++) {
		uint32_t info;

		memcpy(&info, made->types.data + at + 4, sizeof(info));
		at += 12 + ((info >> 24 & 31) == BTF_INT ? 4 : 0);
	}
	memcpy(made->types.data + at + 8, &to, sizeof(to));
}

static inline void shop_customer(struct made *made, struct shop *shop)
{
	uint32_t proto = made_type(made, "", BTF_FUNC_PROTO, 1, 0, 0), name, note;

	made_parameter(made, "", shop->s32);
	shop_point(made, shop->handler, proto);
	name = made_array(made, shop->character, shop->u32, 16);
	note = made_type(made, "", BTF_PTR, 0, 0, made_type(made, "", BTF_CONST, 0, 0, shop->character));
	shop->customer = made_type(made, "customer", BTF_STRUCT, 4, 0, 40);
	made_member(made, "name", name, 0, 0);
	made_member(made, "since", shop->u64, 128, 0);
	made_member(made, "call", shop->handler, 192, 0);
	made_member(made, "note", note, 256, 0);
}

static inline void shop_order(struct made *made, struct shop *shop)
{
	uint32_t inner = made_type(made, "", BTF_STRUCT, 2, 0, 4), either, row, shelf, spot, spots, first, huge, colour, unknown;
	uint32_t customer, per_cpu, user;

	made_member(made, "a", shop->u16, 0, 0);
	made_member(made, "b", shop->u16, 16, 0);
	either = made_type(made, "", BTF_UNION, 2, 0, 4);
	made_member(made, "low", shop->u32, 0, 0);
	made_member(made, "", inner, 0, 0);
	row = made_array(made, shop->u32, shop->u32, 3);
	shelf = made_array(made, row, shop->u32, 2);
	spot = made_type(made, "", BTF_STRUCT, 2, 0, 4);
	made_member(made, "x", shop->u16, 0, 0);
	made_member(made, "y", shop->u16, 16, 0);
	spots = made_array(made, spot, shop->u32, 2);
	huge = made_int(made, "__int128", 16, 1);
	colour = made_type(made, "colour", BTF_ENUM, 1, 1, 4);
	made_parameter(made, "RED", 0);
	made_type(made, "colour_t", BTF_TYPEDEF, 0, 0, colour);
	unknown = made_type(made, "", BTF_PTR, 0, 0, made_type(made, "unknown", BTF_FWD, 0, 0, 0));
	customer = made_type(made, "", BTF_PTR, 0, 0, shop->customer);
	/* Both tags, the pointers to them, then the struct. */
	first = 1 + made->n;
	made_type(made, "percpu", BTF_TYPE_TAG, 0, 0, first + 4);
	per_cpu = made_type(made, "", BTF_PTR, 0, 0, first);
	made_type(made, "user", BTF_TYPE_TAG, 0, 0, first + 4);
	user = made_type(made, "", BTF_PTR, 0, 0, first + 2);
	shop->order = made_type(made, "order", BTF_STRUCT, 15, 1, 112);
	made_member(made, "number", shop->s32, 0, 0);
	made_member(made, "kind", shop->u8, 32, 3);
	made_member(made, "state", shop->u8, 35, 5);
	made_member(made, "few", shop->u8, 48, 2);
	made_member(made, "wide", shop->s32, 50, 20);
	made_member(made, "", shop->u32, 70, 2);
	made_member(made, "", either, 96, 0);
	made_member(made, "customer", customer, 128, 0);
	made_member(made, "shelf", shelf, 192, 0);
	made_member(made, "at", spots, 384, 0);
	made_member(made, "percpu", per_cpu, 448, 0);
	made_member(made, "user", user, 512, 0);
	made_member(made, "huge", huge, 640, 0);
	made_member(made, "colour", colour, 768, 0);
	made_member(made, "unknown", unknown, 832, 0);
}

static inline void shop_functions(struct made *made, struct shop *shop)
{
	uint32_t pair = made_type(made, "pair", BTF_STRUCT, 2, 0, 8), two, all, big, order, proto, odd, to;

	made_member(made, "a", shop->u32, 0, 0);
	made_member(made, "b", shop->u32, 32, 0);
	two = made_type(made, "two", BTF_STRUCT, 3, 0, 16);
	made_member(made, "first", shop->u64, 0, 0);
	made_member(made, "second", shop->u32, 64, 0);
	made_member(made, "third", shop->s32, 96, 0);
	all = made_array(made, shop->u64, shop->u32, 3);
	big = made_type(made, "big", BTF_STRUCT, 1, 0, 24);
	made_member(made, "all", all, 0, 0);
	order = made_type(made, "", BTF_PTR, 0, 0, shop->order);
	proto = made_type(made, "", BTF_FUNC_PROTO, 8, 0, shop->s32);
	made_parameter(made, "order", order);
	made_parameter(made, "pair", pair);
	made_parameter(made, "two", two);
	made_parameter(made, "quick", shop->boolean);
	made_parameter(made, "big", big);
	made_parameter(made, "a", shop->u64);
	made_parameter(made, "b", shop->u16);
	made_parameter(made, "", 0);
	shop->place = made_type(made, "shop_place", BTF_FUNC, 1, 0, proto);
	shop->close = made_type(made, "shop_close", BTF_FUNC, 1, 0, made_type(made, "", BTF_FUNC_PROTO, 0, 0, 0));
	odd = made_type(made, "", BTF_CONST, 0, 0, made_type(made, "", BTF_VOLATILE, 0, 0, shop->order));
	odd = made_type(made, "", BTF_CONST, 0, 0, made_type(made, "", BTF_PTR, 0, 0, odd));
	proto = made_type(made, "", BTF_FUNC_PROTO, 1, 0, order);
	made_parameter(made, "after", odd);
	shop->next = made_type(made, "shop_next", BTF_FUNC, 1, 0, proto);
	to = made_type(made, "", BTF_PTR, 0, 0, shop->u64);
	proto = made_type(made, "", BTF_FUNC_PROTO, 1, 0, 0);
	made_parameter(made, "to", to);
	made_type(made, "shop_paint", BTF_FUNC, 1, 0, proto);
}

static inline struct shop shop_make(struct made *made)
{
	struct shop shop = { 0 };

	*made = (struct made){ .types = BUF_INIT, .names = BUF_INIT };
	shop_numbers(made, &shop);
	shop_customer(made, &shop);
	shop_order(made, &shop);
	shop_functions(made, &shop);
	return shop;
}

#endif
