/*
 * cmd/probe_local: what the files of `ringside probe` share.
 */
#ifndef CMD_PROBE_LOCAL_H
#define CMD_PROBE_LOCAL_H

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/kernel.h"
#include "decode/format.h"
#include "symbol/btf_fetch.h"
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

/* A function by name that a resolver chooses, as it was chosen for us, who run the same file. False: it is none, or we do not. */
bool probe_file_chosen(const struct probe_file *file, const struct debug_place *place, uint64_t *address);

/* Files of programs of the tracing directory, programs first; to be freed, as all of them. */
int probe_files_known(char ***paths, size_t *n, const struct opts *opts, struct err *err);

/* ---- probe_words.c ---- */

#define PROBE_ARGS_MAX 128u
#define PROBE_NAME_MAX 64u	/* of arguments, with NUL; as DEBUG_NAME_MAX */
#define PROBE_ARG_MAX 32u	/* letters of one that a tree takes */

/* `[[GROUP:]NAME=]PLACE [ARGUMENT...]` */
struct probe_words {
	char *text;		/* the person's, cut into words */
	char group[64], name[64];	/* "": they are made up */
	const char *place;
	const char *args[PROBE_ARGS_MAX];
	size_t nargs;
};

int probe_words_read(struct probe_words *words, const char *text, struct err *err);
void probe_words_fini(struct probe_words *words);
/* Letters, digits and _, 63 at most. */
bool probe_is_name(const char *text, size_t len);

/* Arguments of one point. */
struct probe_put {
	struct buf args;	/* " o=%di:x64" */
	struct buf with;	/* " o" */
	struct buf types;	/* " o:x64": what points of one event have in common */
};

void probe_put_fini(struct probe_put *put);
/* [NAME=]EXPRESSION of an argument; `name` is "" where none is given. */
int probe_word_name(const struct probe_put *put, const char *text, char name[PROBE_NAME_MAX], const char **expr, struct err *err);
bool probe_put_has(const struct probe_put *put, const char *name);
/* Another name if that is taken, or too long. */
void probe_put_free_name(const struct probe_put *put, const char *expr, char name[PROBE_NAME_MAX]);
void probe_put_one(struct probe_put *put, const char *name, const char *body);

struct probe_event {
	char group[64], name[64];
	const char *file;	/* that takes its lines: uprobe_events */
	struct buf lines;	/* each with its newline */
	struct buf with;	/* names of its arguments, a blank before each */
	struct buf where;	/* "place:3" */
	char *path;		/* "": it is in no file */
	bool one_of_many;	/* of a glob: when it is refused it is left out, and the others are not */
	bool refused;
	bool renamed;		/* it is called otherwise than in its lines */
};

/* What one definition of a person becomes: events, each with its points. */
struct probe_events {
	struct probe_event *all;
	size_t n;
};

/* A point of one event. */
struct probe_point {
	const char *group, *name;
	const char *file, *path, *where;	/* as above; of further points of an event nobody asks */
	const char *line, *with;
	bool one_of_many;
};

void probe_events_fini(struct probe_events *events);
/* Words of `err` are set when it fails. */
int probe_events_add(struct probe_events *events, const struct probe_point *point, struct err *err);

/* ---- probe_define.c ---- */

/* What definitions of one command line have in common: the tree as it is, and what the kernel tells of itself. */
struct probe_world {
	const struct opts *opts;
	struct source *source;	/* or NULL: it cannot be opened, or is of no interest */
	struct kernel kernel;
};

void probe_world_open(struct probe_world *world, const struct opts *opts);
void probe_world_close(struct probe_world *world);
int probe_define(struct probe_events *events, struct probe_world *world, const char *text, struct err *err);

/* ---- probe_kernel.c: functions of the kernel ---- */

/* Without -x and -P, of the kernel's own tree or its types: the place is one of the kernel. */
bool probe_is_kernel(const struct opts *opts);
/* Types alone, of a kernel that is not at hand: there is no tree. */
bool probe_is_elsewhere(const struct opts *opts);
int probe_define_kernel(struct probe_events *events, struct kernel *kernel, const struct probe_words *words, struct err *err);

/* [MODULE:]FUNCTION[+OFFSET][%return] or 0xADDRESS of the kernel */
struct probe_place {
	char module[64], function[128];	/* "": none */
	uint64_t offset, address;
	bool returns;
};

int probe_place_read(struct probe_place *place, const char *text, struct err *err);
/* What the function is given and returns, as far as that is told. */
void probe_scope_function(struct btf_scope *scope, struct kernel *kernel, const struct probe_place *place, const char *module,
			  const char *function);
/* Arguments of a definition by their names. `raw`: checks and writes one that is a word of the grammar. */
typedef int probe_raw(void *ctx, const char *expr, struct buf *body, struct err *err);
int probe_put_scoped(struct probe_put *put, const struct btf_scope *scope, const struct probe_words *words, probe_raw *raw,
		     void *ctx, struct err *err);

/* probe_kernel_show.c: parameters of a function, fields of an event, members of a struct, variables of a file; all functions. */
int probe_show_variables(struct buf *out, struct probe_world *world, const char *text, struct err *err);
int probe_show_kernel_functions(struct buf *out, const struct opts *opts, const char *glob, struct err *err);

/* ---- probe_event.c: events of events, and lines as they are ---- */

/* SYSTEM/EVENT, SYSTEM.EVENT or SYSTEM:EVENT of one that the source has. */
struct probe_target {
	char system[64], event[64];
};
bool probe_is_event(struct probe_target *target, struct source *source, const char *text);
/* -ENOENT of SYSTEM/EVENT that is not there, with words; 0: it may be something else. */
int probe_no_event(struct source *source, const char *text, struct err *err);
int probe_define_event(struct probe_events *events, struct kernel *kernel, const struct probe_target *target,
		       const struct probe_words *words, struct err *err);
int probe_scope_event(struct btf_scope *scope, struct kernel *kernel, const struct probe_target *target, struct decode_format **format,
		      struct err *err);

/* KIND:[GROUP/]NAME PLACE ..., a line of dynamic_events. */
bool probe_is_line(const char *text);
int probe_define_line(struct probe_events *events, const char *text, struct err *err);

/* probe_install.c: events of the tree come and go. */
int probe_install(struct probe_events *events, const struct opts *opts, struct buf *out, struct err *err);
int probe_remove(struct buf *out, const struct opts *opts, struct err *err);

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

int probe_show_file_variables(struct buf *out, const struct opts *opts, const char *text, struct err *err);
int probe_show_lines(struct buf *out, const struct opts *opts, const char *text, struct err *err);
int probe_show_functions(struct buf *out, const struct opts *opts, const char *glob, struct err *err);
int probe_show_events(struct buf *out, const struct opts *opts, const char *glob, struct err *err);
/* The text of the file that has the definitions, "" where there is none. */
int probe_definitions(struct source *source, struct buf *out, struct err *err);

/* A line of those taken apart, in place. False: it is none of a probe. */
struct probe_line {
	char kind;		/* p, r, e, f, t */
	char *group, *name, *place, *args;
	char *path;		/* of a place in a file, which is `offset` then; else NULL */
	bool returns;
	uint64_t offset;
};
bool probe_line_read(struct probe_line *line, char *text);

#endif
