/*
 * cmd/probe_local: what the files of `ringside probe` share.
 */
#ifndef CMD_PROBE_LOCAL_H
#define CMD_PROBE_LOCAL_H

#include "base/buf.h"
#include "cmd/cmd.h"
#include "symbol/debug.h"
#include "symbol/elf.h"

/* ---- probe_file.c: the file that a place is in ---- */

struct probe_file {
	char *path;		/* without links */
	struct debug *debug;	/* NULL: there is no debug information, and `why` */
	struct err why;
	struct elf_piece loads[ELF_LOADS_MAX];
	uint32_t nloads;
	uint16_t machine;	/* EM_* */
	bool foreign;		/* this machine does not run it */
	char kind[32];		/* of processor: "x86_64" */
};

/* -x FILE, -P PID, or those that programs of the tracing directory have; `place` NULL: the program itself. */
int probe_file_open(struct probe_file *file, const struct opts *opts, const struct debug_place *place, struct err *err);
int probe_file_open_path(struct probe_file *file, const char *path, struct err *err);
void probe_file_close(struct probe_file *file);
/* What mends that there is no debug information. */
const char *probe_file_hint(const struct probe_file *file);
/* 0, or words of a file that is for another machine. */
int probe_file_own(const struct probe_file *file, struct err *err);
/* Between addresses of the memory image and offsets in the file; false: no code is there. */
bool probe_file_offset(const struct probe_file *file, uint64_t address, uint64_t *offset);
bool probe_file_address(const struct probe_file *file, uint64_t offset, uint64_t *address);
/* 0, or words of an address at which no instruction begins. */
int probe_file_instruction(const struct probe_file *file, uint64_t address, struct err *err);

/* Files of programs of the tracing directory, programs first; to be freed, as all of them. */
int probe_files_known(char ***paths, size_t *n, const struct opts *opts, struct err *err);

/* ---- probe_define.c ---- */

struct probe_event {
	char group[64], name[64];
	struct buf lines;	/* of uprobe_events, each with its newline */
	struct buf with;	/* names of its arguments, a blank before each */
	struct buf where;	/* "place:3" */
	char *path;
};

/* What one definition of a person becomes: events, each with its points. */
struct probe_events {
	struct probe_event *all;
	size_t n;
};

int probe_define(struct probe_events *events, const struct opts *opts, const char *text, struct err *err);
void probe_events_fini(struct probe_events *events);
/* A point of one event more; words of `err` are set when it fails. */
int probe_events_add(struct probe_events *events, const char *group, const char *name, const char *path, const char *where,
		     const char *line, const char *with, struct err *err);

/* probe_given.c: an expression that has $argN in it, in words of every uprobe_events. -ENODATA: it means nothing here. */
bool probe_is_given(const char *expr);
int probe_put_given(struct buf *out, const struct probe_file *file, const struct debug_point *point, const char *expr,
		    struct err *err);

/* probe_usdt.c: `text` is sdt_PROVIDER:NAME or %PROVIDER:NAME. False: it is neither. */
bool probe_is_usdt(const char *text);
int probe_define_usdt(struct probe_events *events, const struct opts *opts, const char *group, const char *name, const char *text,
		      struct err *err);
/* "sdt_PROVIDER:NAME" a line, of those that match the glob (NULL: all); none is no failure. */
int probe_list_usdt(struct buf *out, const char *path, const char *glob, bool with_file, bool json, struct err *err);

/* ---- probe_show.c ---- */

int probe_show_variables(struct buf *out, const struct opts *opts, const char *text, struct err *err);
int probe_show_lines(struct buf *out, const struct opts *opts, const char *text, struct err *err);
int probe_show_functions(struct buf *out, const struct opts *opts, const char *glob, struct err *err);
int probe_show_events(struct buf *out, const struct opts *opts, const char *glob, struct err *err);
/* The text of the file that has the definitions, "" where there is none. */
int probe_definitions(struct source *source, struct buf *out, struct err *err);

/* A line of uprobe_events taken apart, in place. False: it is none. */
struct probe_line {
	char *group, *name, *path, *args;
	bool returns;
	uint64_t offset;
};
bool probe_line_read(struct probe_line *line, char *text);

#endif
