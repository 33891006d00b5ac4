/*
 * ringside/event.h: declare an event in a few lines, and trace it.
 *
 *	RINGSIDE_EVENT(shop, order,
 *		field(int, item),
 *		field(double, price),
 *		string(customer),
 *		symbols(enum status, status, {NEW, "new"}, {PAID, "paid"}),
 *		print("item=%d price=%.2f customer=%s status=%s", item, price, customer, status))
 *	...
 *	trace_shop_order(42, 9.99, "ann", PAID);
 *
 * The declaration stands at file scope, needs no semicolon behind it, and is best in a header
 * that all files share which trace the event. It works in C11 and in C++17, in programs and in
 * libraries, in several of them at once, and in what is loaded with dlopen and unloaded again. The
 * program is linked with libringside.
 *
 * The words, 1 to 32 with print(); what each adds to the parameters of trace_SYSTEM_NAME:
 *
 *	field(TYPE, NAME)		TYPE NAME: an integer, bool, char, enum, float, double, pointer
 *	symbols(TYPE, NAME, {VALUE, "name"}, ...)
 *					TYPE NAME: an integer or enum that is printed by name
 *	flags(TYPE, NAME, {BIT, "name"}, ...)
 *					TYPE NAME: an integer whose bits are printed by name
 *	array(TYPE, NAME, COUNT)	const TYPE *NAME: COUNT of them; one of char ends at a NUL
 *	string(NAME)			const char *NAME
 *	string_n(NAME)			const char *NAME, size_t NAME_len: need not end with a NUL
 *	sequence(TYPE, NAME)		const TYPE *NAME, size_t NAME_count
 *	bitmask(NAME)			const unsigned long *NAME, size_t NAME_bits
 *	print(FORMAT, ARGUMENT, ...)	no parameter: how the event reads. Left out, every field is
 *					printed as NAME=value
 *
 * The arguments of print() are C expressions of field names, numbers and macros; the compiler
 * checks them against FORMAT. In it symbols, flags, strings, arrays, sequences and bitmasks are
 * texts (%s), and REC->NAME is the plain value of a field; NAME_count is the length of a sequence.
 * Arrays, but those of char, and sequences read as {0x1,0x2}; floating-point numbers in them as
 * their bits.
 *
 * A NULL string is recorded as "(null)", any other NULL as zeros or nothing. A record has 4048
 * bytes at most: strings and sequences that are longer than what is left are cut.
 *
 * void trace_SYSTEM_NAME(...) may be called by any thread, also in signal handlers. While nobody
 * wants the event that is three loads, of which two are from one line, and a branch that is not
 * taken. int trace_SYSTEM_NAME_enabled(void) tells whether somebody does, for programs that have to
 * prepare something for the call.
 *
 * Each event is also a USDT probe, SYSTEM:NAME, for perf, bpftrace, gdb and SystemTap.
 *
 * RINGSIDE_CUSTOM_EVENT declares a second event at the sites of a first, usually a smaller one:
 *
 *	RINGSIDE_CUSTOM_EVENT(shop, order, order_small, field(short, item))
 *
 * records shop:order_small wherever shop:order is traced, whether that one is wanted or not. Its
 * fields are those of the first that it names, in any order; numbers may have other types. It may
 * live in another library than the sites, and be unloaded while they run.
 */
#ifndef RINGSIDE_EVENT_H
#define RINGSIDE_EVENT_H

#include <ringside/abi.h>
#include <ringside/map.h>
#include <ringside/usdt.h>

#define RINGSIDE_EVENT(system, name, ...) \
	RINGSIDE_EVENT_(#system, #name, system##_##name, __VA_ARGS__)
#define RINGSIDE_EVENT_(system, name, ev, ...) \
	struct ringside_args_##ev { \
		int ringside_none; \
		RINGSIDE_MAP(RINGSIDE_ARG, __VA_ARGS__) \
	}; \
	RINGSIDE_RECORD(ev, __VA_ARGS__) \
	RINGSIDE_OBJECT(system, name, ev, __VA_ARGS__) \
	\
	static __attribute__((noinline, cold, unused)) void \
	ringside_more_##ev(RINGSIDE_LIST(0 RINGSIDE_MAP(RINGSIDE_PARAM, __VA_ARGS__))) \
	{ \
		struct ringside_args_##ev ringside_args = { \
			0 RINGSIDE_MAP(RINGSIDE_NAME, __VA_ARGS__) \
		}; \
		ringside_event_compose(&ringside_event_##ev, &ringside_args); \
	} \
	\
	static __attribute__((noinline, unused)) void \
	ringside_write_##ev(RINGSIDE_LIST(0 RINGSIDE_MAP(RINGSIDE_PARAM, __VA_ARGS__))) \
	{ \
		typedef struct ringside_record_##ev ringside_type __attribute__((unused)); \
		enum { ringside_fixed = offsetof(struct ringside_record_##ev, ringside_end) }; \
		uint64_t ringside_record[RINGSIDE_STACK_MAX / 8 + 1]; \
		size_t ringside_len = ringside_fixed; \
		size_t ringside_to = ringside_fixed; \
		\
		RINGSIDE_MAP(RINGSIDE_VIEW, __VA_ARGS__) \
		RINGSIDE_USDT(system, name, "ringside_event_" #ev RINGSIDE_SEMAPHORE, \
			      0 RINGSIDE_MAP(RINGSIDE_SHOW, __VA_ARGS__)); \
		RINGSIDE_MAP(RINGSIDE_MEASURE, __VA_ARGS__) \
		if (RINGSIDE_UNLIKELY(ringside_len > RINGSIDE_STACK_MAX || \
				      *ringside_event_##ev.hint != RINGSIDE_THIS)) { \
			ringside_more_##ev(RINGSIDE_PASS(0 RINGSIDE_MAP(RINGSIDE_NAME, \
									__VA_ARGS__))); \
			/* Stacks count on this frame: no jump there. */ \
			__asm__ __volatile__(""); \
			return; \
		} \
		memset(ringside_record, 0, ringside_fixed < RINGSIDE_STACK_MAX ? \
		       (ringside_fixed + 7) & ~7 : 8); \
		ringside_len = ringside_fixed; \
		RINGSIDE_MAP(RINGSIDE_FIX, __VA_ARGS__) \
		RINGSIDE_MAP(RINGSIDE_FILL, __VA_ARGS__) \
		(void)ringside_to; \
		ringside_event_##ev.write(ringside_event_##ev.id, ringside_record, \
					  ringside_len); \
	} \
	\
	RINGSIDE_INLINE int trace_##ev##_enabled(void) \
	{ \
		return ringside_event_wanted(&ringside_event_##ev); \
	} \
	\
	RINGSIDE_INLINE void \
	trace_##ev(RINGSIDE_LIST(0 RINGSIDE_MAP(RINGSIDE_PARAM, __VA_ARGS__))) \
	{ \
		if (RINGSIDE_UNLIKELY(ringside_event_wanted(&ringside_event_##ev))) \
			ringside_write_##ev(RINGSIDE_PASS(0 RINGSIDE_MAP(RINGSIDE_NAME, \
									 __VA_ARGS__))); \
	} \
	\
	static __attribute__((constructor(101))) void ringside_start_##ev(void) \
	{ \
		RINGSIDE_TABLE(ev, ev, __VA_ARGS__) \
		ringside_event_register(&ringside_event_##ev, ringside_fields); \
	}

#define RINGSIDE_CUSTOM_EVENT(system, base, name, ...) \
	RINGSIDE_CUSTOM_EVENT_(#system, #name, system##_##base, system##_##name, __VA_ARGS__)
#define RINGSIDE_CUSTOM_EVENT_(system, name, base, ev, ...) \
	RINGSIDE_RECORD(ev, __VA_ARGS__) \
	RINGSIDE_OBJECT(system, name, ev, __VA_ARGS__) \
	\
	static inline __attribute__((unused)) void \
	ringside_pick_##ev(const struct ringside_args_##base *ringside_args, \
			   const struct ringside_record_##base *ringside_base) \
	{ \
		(void)ringside_args; \
		(void)ringside_base; \
		RINGSIDE_MAP(RINGSIDE_PICK, __VA_ARGS__) \
	} \
	\
	static __attribute__((constructor(102))) void ringside_start_##ev(void) \
	{ \
		RINGSIDE_TABLE(ev, base, __VA_ARGS__) \
		ringside_custom_register(&ringside_event_##ev, ringside_fields, \
					 &ringside_event_##base); \
	} \
	\
	static __attribute__((destructor)) void ringside_stop_##ev(void) \
	{ \
		ringside_custom_release(&ringside_event_##ev); \
	}

/* Somebody wants it, or a USDT tool is attached. */
RINGSIDE_INLINE int ringside_event_wanted(const struct ringside_event *event)
{
	const volatile uint32_t *hint = *(const uint32_t *const volatile *)&event->hint;

	return (*hint | *(const volatile uint16_t *)&event->semaphore) != 0;
}

#ifdef __LP64__
#define RINGSIDE_SEMAPHORE "+8"
RINGSIDE_STATIC_ASSERT(offsetof(struct ringside_event, semaphore) == 8, "USDT notes name it");
#else
#define RINGSIDE_SEMAPHORE "+4"
RINGSIDE_STATIC_ASSERT(offsetof(struct ringside_event, semaphore) == 4, "USDT notes name it");
#endif

/*
 * The record, as C would lay it out, but that 8-byte values are aligned to 8 in 32-bit programs
 * too: so programs of both kinds share one event. REC in print() is a pointer to it.
 */
#define RINGSIDE_RECORD(ev, ...) \
	struct ringside_record_##ev { \
		uint16_t common_type; \
		uint8_t common_flags; \
		uint8_t common_preempt_count; \
		int32_t common_pid; \
		RINGSIDE_MAP(RINGSIDE_MEMBER, __VA_ARGS__) \
		uint32_t ringside_end; \
	}; \
	RINGSIDE_STATIC_ASSERT(offsetof(struct ringside_record_##ev, ringside_end) + 4 * 32 <= \
			       RINGSIDE_RECORD_MAX, "the record is too long"); \
	\
	static inline __attribute__((unused)) void \
	ringside_check_##ev(const struct ringside_record_##ev *REC \
			    RINGSIDE_MAP(RINGSIDE_TEXTS, __VA_ARGS__)) \
	{ \
		(void)REC; \
		RINGSIDE_MAP(RINGSIDE_CHECK, __VA_ARGS__) \
	}

/* The event: one in each program or library, under a name that USDT notes can use, in the section
 * where tools look for semaphores. */
#define RINGSIDE_OBJECT(system, name, ev, ...) \
	RINGSIDE_STATIC_ASSERT(sizeof(system) <= 61 && sizeof(name) <= 61, \
			       "a system's or an event's name is longer than 60 characters"); \
	extern struct ringside_event ringside_event_##ev __asm__("ringside_event_" #ev) \
		__attribute__((visibility("hidden"))); \
	__attribute__((weak, used, section(".probes"))) \
	struct ringside_event ringside_event_##ev = { \
		&ringside_event_##ev.nothing, 0, 0, 0, 0, 0, 0, RINGSIDE_ABI, 0, 0, system, name, \
		"" RINGSIDE_MAP(RINGSIDE_PRINT, __VA_ARGS__), 0, 0 \
	};

/* ringside_fields, for the record of `ev` out of the arguments of `from`. */
#define RINGSIDE_TABLE(ev, from, ...) \
	typedef struct ringside_record_##ev ringside_type __attribute__((unused)); \
	typedef struct ringside_args_##from ringside_from __attribute__((unused)); \
	RINGSIDE_MAP(RINGSIDE_NAMES, __VA_ARGS__) \
	static const struct ringside_field ringside_fields[] = { \
		RINGSIDE_MAP(RINGSIDE_ROW, __VA_ARGS__) \
		{ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } \
	};

#include <ringside/words.h>

#endif
