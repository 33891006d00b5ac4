/*
 * ringside/plugin.h: shared objects that print events in `ringside report` in their own way.
 *
 * An object says RINGSIDE_PLUGIN once and defines ringside_plugin_start(), which is called when the
 * object is loaded and tells the host, by its on_event(), which events it prints. For each record
 * of these the host calls the printer, which asks for fields by name and adds text to the line.
 *
 * Several threads may call a printer at once, each for records of its own. What the host returns
 * stays valid until the printer returns.
 */
#ifndef RINGSIDE_PLUGIN_H
#define RINGSIDE_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grows when what is below changes; objects made for another one are refused. */
#define RINGSIDE_PLUGIN_ABI 1

struct ringside_plugin_record;	/* one record and its line, while its printer runs */
struct ringside_plugin_set;	/* where on_event() puts printers */

/* 0: the line is printed; anything else: this record prints as if there was no plugin. */
typedef int ringside_plugin_printer(const struct ringside_plugin_record *record, void *arg);

struct ringside_plugin_host {
	uint32_t abi;
	uint32_t size;		/* of this struct */

	/*
	 * From now on `print` prints events of that system and name, before any other. 0, or
	 * -ENOMEM. Only while ringside_plugin_start() runs.
	 */
	int (*on_event)(struct ringside_plugin_set *set, const char *system, const char *name,
			ringside_plugin_printer *print, void *arg);

	/* A number by its field's name, extended by its sign; 0 when there is no such field. */
	int64_t (*number)(const struct ringside_plugin_record *record, const char *field);
	/* A string by its field's name, not terminated; NULL and 0 when there is no such field. */
	const char *(*text)(const struct ringside_plugin_record *record, const char *field,
			    size_t *len);
	/* All bytes of a field, in the order of the machine that wrote them. */
	const void *(*bytes)(const struct ringside_plugin_record *record, const char *field,
			     size_t *len);
	/* The name of the function at an address, NULL: not known. `offset` may be NULL. */
	const char *(*symbol)(const struct ringside_plugin_record *record, uint64_t address,
			      uint64_t *offset);

	/* What every record has. */
	int (*pid)(const struct ringside_plugin_record *record);
	int (*cpu)(const struct ringside_plugin_record *record);
	uint64_t (*time)(const struct ringside_plugin_record *record);

	/* Text for the line. */
	void (*write)(const struct ringside_plugin_record *record, const char *text, size_t len);
	void (*printf)(const struct ringside_plugin_record *record, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
};

/* `host` stays valid as long as the object is loaded. 0, or a negative errno: it is not used. */
int ringside_plugin_start(const struct ringside_plugin_host *host,
			  struct ringside_plugin_set *set);

extern const uint32_t ringside_plugin_abi;
#define RINGSIDE_PLUGIN const uint32_t ringside_plugin_abi = RINGSIDE_PLUGIN_ABI

#ifdef __cplusplus
}
#endif

#endif
