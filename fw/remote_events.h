/*
 * fw/remote_events: events of a remote, as the kernel declares them.
 *
 *	boot_events.h	REMOTE_EVENT(phase, 1,
 *				RE_STRUCT(re_field(u32, number) re_field(s64, left)),
 *				RE_PRINTK("number=%u left=%lld", __entry->number, __entry->left));
 *
 *	each file	#include "remote_events.h"
 *			#include "boot_events.h"			gives trace_phase(7, -1)
 *
 *	one of them	#define REMOTE_EVENT_INCLUDE_FILE boot_events.h
 *			#include "define_remote_events.h"		puts the texts into the ELF file; never into memory
 *
 * IDs are below RINGSIDE_FW_EVENTS. The header is read again and again: it has no include guard, and nothing but events. A host that knows the
 * events from here, and has no ELF file, includes the same header.
 *
 * In a program with the hosted writer, which defines RINGSIDE_FW_HOSTED before all this, it is trace_phase(&fw, ring, 7, -1), and the texts
 * are objects: &remote_event_phase is what ringside_control_remote_register() takes.
 */
#ifndef RINGSIDE_REMOTE_EVENTS_H
#define RINGSIDE_REMOTE_EVENTS_H

#ifdef RINGSIDE_FW_HOSTED
#include "hosted.h"
#else
#include "ringside_fw.h"
#endif

#ifndef RINGSIDE_FW_NO_TYPES
typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
#endif

/* Fields are a sequence, (u32, number)(s64, left): each walk over it is a pair of macros that call each other. */
#define RE_STRUCT(...) __VA_ARGS__
#define re_field(type, name) (type, name)
#define RE_PRINTK(...) __VA_ARGS__
#define RE_WALK(walk, fields) RE_JOIN(_END, walk fields)
#define RE_JOIN(end, ...) RE_JOIN_(end, __VA_ARGS__)
#define RE_JOIN_(end, ...) __VA_ARGS__##end

#define RE_MEMBER(type, name) type name; RE_MEMBER_
#define RE_MEMBER_(type, name) type name; RE_MEMBER
#define RE_MEMBER_END
#define RE_MEMBER__END

#define RE_PARAM(type, name) type name RE_PARAM_
#define RE_PARAM_(type, name) , type name RE_PARAM__
#define RE_PARAM__(type, name) , type name RE_PARAM_
#define RE_PARAM_END void
#define RE_PARAM__END
#define RE_PARAM___END

/* What no field has holds nothing of the stack: the word that a field begins in, and the one before, which may be all between two of them. */
#define RE_CLEAR(type, name) RE_CLEAR_ONE(name) RE_CLEAR_
#define RE_CLEAR_(type, name) RE_CLEAR_ONE(name) RE_CLEAR
#define RE_CLEAR_END
#define RE_CLEAR__END
#define RE_CLEAR_ONE(name)                                                                                                     \
	re_event_.re_words_[(offsetof(__typeof__(re_event_.re_record_), name) - 2) / 4] = 0;                                   \
	re_event_.re_words_[offsetof(__typeof__(re_event_.re_record_), name) / 4] = 0;

#define RE_ASSIGN(type, name) re_event_.re_record_.name = name; RE_ASSIGN_
#define RE_ASSIGN_(type, name) re_event_.re_record_.name = name; RE_ASSIGN
#define RE_ASSIGN_END
#define RE_ASSIGN__END

/* Who writes, and where to. */
#ifdef RINGSIDE_FW_HOSTED
#define RE_CHECK(event, event_id) RINGSIDE_FW_BEGIN_C extern const struct ringside_fw_text remote_event_##event; RINGSIDE_FW_END_C
#define RE_PARAMS(fields) struct ringside_fw_hosted *re_fw_, uint32_t re_ring_ RE_WALK(RE_PARAM_, fields)
#define RE_IS_ON(event_id) ringside_fw_hosted_is_on(re_fw_, event_id)
#define RE_WRITE(record, words) ringside_fw_hosted_write(re_fw_, re_ring_, record, words)
#else
#define RE_CHECK(event, event_id)                                                                                              \
	RINGSIDE_FW_ASSERT((event_id) < RINGSIDE_FW_EVENTS, #event ": RINGSIDE_FW_EVENTS is too small for this ID");           \
	RINGSIDE_FW_ASSERT(sizeof(struct remote_event_format_##event) <= RINGSIDE_FW_RECORD_MAX, #event " is too long for a page");
#define RE_PARAMS(fields) RE_WALK(RE_PARAM, fields)
#define RE_IS_ON(event_id) ringside_fw_is_on(event_id)
#define RE_WRITE(record, words) ringside_fw_write(record, words)
#endif

#define REMOTE_EVENT(event, event_id, fields, ...)                                                                             \
	struct remote_event_format_##event {                                                                                   \
		uint16_t remote_event_id;                                                                                      \
		RE_WALK(RE_MEMBER, fields)                                                                                     \
	};                                                                                                                     \
	RE_CHECK(event, event_id)                                                                                              \
	static inline __attribute__((unused)) void trace_##event(RE_PARAMS(fields))                                            \
	{                                                                                                                      \
		union {                                                                                                        \
			struct remote_event_format_##event re_record_;                                                         \
			uint32_t re_words_[(sizeof(struct remote_event_format_##event) + 3) / 4];                               \
		} re_event_;                                                                                                   \
                                                                                                                               \
		if (!RE_IS_ON(event_id))                                                                                       \
			return;                                                                                                \
		re_event_.re_words_[0] = 0;                                                                                    \
		RE_WALK(RE_CLEAR, fields)                                                                                      \
		re_event_.re_words_[sizeof(re_event_) / 4 - 1] = 0;                                                            \
		re_event_.re_record_.remote_event_id = (event_id);                                                             \
		RE_WALK(RE_ASSIGN, fields)                                                                                     \
		RE_WRITE(&re_event_, sizeof(re_event_) / 4);                                                                   \
	}                                                                                                                      \
	struct remote_event_format_##event

#endif
