/*
 * fw/define_remote_events: the texts of the events in REMOTE_EVENT_INCLUDE_FILE, for one file of a firmware. See remote_events.h.
 *
 * They are for the host, which reads them from the ELF file. Their section is no part of the image: to the compiler it is one that is
 * loaded, so what it says of that is made a comment of the assembler's. A program with the hosted writer has them as objects.
 */
#include "remote_events.h"

#ifndef RINGSIDE_DEFINE_REMOTE_EVENTS_H
#define RINGSIDE_DEFINE_REMOTE_EVENTS_H

#if defined(__clang__)
#define RE_SECTION RINGSIDE_FW_TEXTS	/* the linker script leaves it out: (INFO) */
#elif defined(__arm__)
#define RE_SECTION RINGSIDE_FW_TEXTS ",\"\",%progbits @"
#elif defined(__aarch64__)
#define RE_SECTION RINGSIDE_FW_TEXTS ",\"\",%progbits //"
#else
#define RE_SECTION RINGSIDE_FW_TEXTS ",\"\",@progbits #"
#endif

#define RE_TEXT(...) RE_TEXT_(__VA_ARGS__)
#define RE_TEXT_(...) #__VA_ARGS__

#define RE_FIELD(type_, name_) RE_ONE_FIELD(type_, name_) RE_FIELD_
#define RE_FIELD_(type_, name_) RE_ONE_FIELD(type_, name_) RE_FIELD
#define RE_FIELD_END
#define RE_FIELD__END
#define RE_ONE_FIELD(type_, name_)                                                                                             \
	{ .align = _Alignof(type_), .size = sizeof(type_) + RE_FITS(sizeof(#type_) <= RINGSIDE_FW_NAME) +                      \
				   RE_FITS(sizeof(#name_) <= RINGSIDE_FW_NAME) + RE_FITS(sizeof(type_) <= 8),                  \
	  .is_signed = (type_)-1 < (type_)1, .type = #type_, .name = #name_ },
/* 0; or no array has that size: the name of a field, or of its type, is too long, or it is no number. */
#define RE_FITS(does) (0 * sizeof(char[(does) ? 1 : -1]))

#define RE_COUNT(type_, name_) + 1 RE_COUNT_
#define RE_COUNT_(type_, name_) + 1 RE_COUNT
#define RE_COUNT_END
#define RE_COUNT__END

#define RE_CHECK_TEXT(event, nr_fields, ...)                                                                                   \
	_Static_assert((nr_fields) <= RINGSIDE_FW_FIELDS, #event ": there are more than 64 fields");                           \
	_Static_assert(sizeof(#event) <= RINGSIDE_FW_NAME, #event ": the name is too long");                                   \
	_Static_assert(sizeof(RE_TEXT(__VA_ARGS__)) <= RINGSIDE_FW_PRINT, #event ": the print format is too long");
#define RE_CONTENT(event, event_id, fields, ...)                                                                               \
	.id = (event_id), .size = sizeof(struct remote_event_format_##event), .nr_fields = 0 RE_WALK(RE_COUNT, fields),        \
	.name = #event, .print = RE_TEXT(__VA_ARGS__)

int re_shown(const char *format, ...);

#endif

/* Is there what is to be shown? Nothing comes of this, but that it compiles. */
#undef REMOTE_EVENT
#define __print_flags(value, ...) ((value) ? "" : "")
#define __print_symbolic(value, ...) ((value) ? "" : "")
#define __print_hex(value, ...) ((value) ? "" : "")
#define REMOTE_EVENT(event, event_id, fields_, ...)                                                                            \
	static inline __attribute__((unused)) void re_shows_##event(const struct remote_event_format_##event *__entry)         \
	{                                                                                                                      \
		(void)__entry;                                                                                                 \
		(void)sizeof(re_shown(__VA_ARGS__));                                                                           \
	}                                                                                                                      \
	struct remote_event_format_##event

#include RE_TEXT(REMOTE_EVENT_INCLUDE_FILE)

/* A struct ringside_fw_text each, with its fields. */
#undef REMOTE_EVENT
#undef __print_flags
#undef __print_symbolic
#undef __print_hex
#define __entry REC
#ifdef RINGSIDE_FW_HOSTED
#define REMOTE_EVENT(event, event_id, fields_, ...)                                                                            \
	RE_CHECK_TEXT(event, 0 RE_WALK(RE_COUNT, fields_), __VA_ARGS__)                                                        \
	__extension__ const struct ringside_fw_text remote_event_##event = {                                                   \
		.bytes = sizeof(struct ringside_fw_text) + (1 RE_WALK(RE_COUNT, fields_)) * sizeof(struct ringside_fw_field),  \
		RE_CONTENT(event, event_id, fields_, __VA_ARGS__),                                                             \
		.fields = { RE_WALK(RE_FIELD, fields_) { 0 } },                                                                \
	}
#else
#define REMOTE_EVENT(event, event_id, fields, ...)                                                                             \
	RE_CHECK_TEXT(event, 0 RE_WALK(RE_COUNT, fields), __VA_ARGS__)                                                         \
	static const struct {                                                                                                  \
		uint16_t bytes, id, size, nr_fields;                                                                           \
		char name[RINGSIDE_FW_NAME], print[RINGSIDE_FW_PRINT];                                                         \
		struct ringside_fw_field fields_[RE_WALK(RE_COUNT, fields) + 1];                                               \
	} re_text_##event __attribute__((used, section(RE_SECTION), aligned(4))) = {                                           \
		.bytes = sizeof(re_text_##event),                                                                              \
		RE_CONTENT(event, event_id, fields, __VA_ARGS__),                                                              \
		.fields_ = { RE_WALK(RE_FIELD, fields) { 0 } },                                                                \
	}
#endif

#include RE_TEXT(REMOTE_EVENT_INCLUDE_FILE)

#undef __entry
#undef REMOTE_EVENT
