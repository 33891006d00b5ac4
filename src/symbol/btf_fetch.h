/*
 * symbol/btf_fetch: an expression of C over what the kernel has at a place -> what a probe fetches, in words that need no BTF where
 * they are read.
 *
 *   skb->dev->name            +288(+16($arg1)):string
 *   (struct sk_buff *)skbaddr->len     +112($skbaddr):u32
 *   skb->pkt_type             +128($arg1):b3@0/8
 *
 * A cast binds to the name or the parentheses that follow it, closer than -> does.
 */
#ifndef SYMBOL_BTF_FETCH_H
#define SYMBOL_BTF_FETCH_H

#include "symbol/btf.h"

#define BTF_ROOTS_MAX 128u
#define BTF_NAME_MAX 64u	/* of arguments, with NUL */

/* What an expression may begin with. */
struct btf_root {
	char name[BTF_NAME_MAX];	/* "skb", "$retval" */
	char fetch[2][BTF_NAME_MAX + 1];	/* "$arg1", and where the second 8 bytes are, if anywhere; "": nowhere, and `why` */
	struct btf_ref type;
	const char *word;		/* NULL: `type` tells; else how a probe fetches it: "u32", "string" of a text */
	const char *text;		/* its type for people, where `type` does not tell; or NULL */
	const char *why;
	uint32_t number;		/* $argN, of one word that is passed; 0: it is none */
	uint32_t offset;		/* in memory: so far from `fetch` */
	bool in_memory;
};

struct btf_scope {
	const struct btf *btf;		/* NULL: nothing is known of types, and `why` */
	const char *why;
	const char *where;		/* "ip_rcv_core" */
	struct btf_root roots[BTF_ROOTS_MAX];
	uint32_t n;
	bool plain_char;		/* the tree has no type char: s8 then */
};

struct btf_arg {
	char name[BTF_NAME_MAX];	/* what it would be called: the last word of the expression */
	struct buf body;		/* FETCH:TYPE */
};

/*
 * NAME[.MEMBER | ->MEMBER | [INDEX]]...[:TYPE] with casts. -ENOENT: nothing is called so; -ENODATA: what is there is not known;
 * -EOPNOTSUPP: no probe can fetch it; -EINVAL: it makes no sense.
 */
int btf_argument(const struct btf_scope *scope, const char *text, struct btf_arg *arg, struct err *err);
void btf_arg_fini(struct btf_arg *arg);

/* btf_cast.c: "const struct sk_buff *" at the beginning of a text, up to something else. -ENOENT: no such type; -EINVAL: none at all. */
int btf_parse_type(const struct btf *btf, const char **text, struct btf_ref *ref, struct err *err);

/*
 * btf_given.c: the parameters of FUNC `id`, as they are passed; at a function's first instruction. `numbered`: the tree knows
 * $argN; else registers are named. False: where parameters are on this kind of processor is not known.
 */
bool btf_put_roots(struct btf_scope *scope, uint32_t id, const char *machine, bool numbered);
/* The word of the grammar for $arg1 (slot 0) and so on. */
bool btf_put_slot(char out[BTF_NAME_MAX + 1], const char *machine, uint32_t slot, bool numbered);

#endif
