/*
 * control/symbols: names of addresses of the directory's symbol space, and the other way round.
 *
 * Made from the ELF files that programs told of and that are still there, when first asked for one: of each file once a handle,
 * and again when an address turns up in a file that nobody had told of. What is handed out stays until the handle is asked again.
 */
#ifndef CONTROL_SYMBOLS_H
#define CONTROL_SYMBOLS_H

#include "control/control.h"
#include "decode/print.h"

/* The function at that address: its module is the base name of its file, of a program none. False: none is known, or it is no
 * such address. */
bool control_symbol(struct control *control, uint64_t address, struct decode_symbol *symbol);

/*
 * The function of that name, [*start, *end). "NAME [MODULE]" and "MODULE:NAME" mean the one of that file; else the first of all, in
 * the order in which programs told of their files, a program's own before any library's.
 */
bool control_function(struct control *control, const char *name, uint64_t *start, uint64_t *end);
/* The same for data. Files are read each time. */
bool control_data(struct control *control, const char *text, uint64_t *start, uint64_t *end);

/* What the function that begins at that address takes and gives (layout/prototype.h), by its file's debug information; NULL: not
 * known. */
const char *control_prototype(struct control *control, uint64_t address);

/* What a path leads to from a parameter of that function: MEMBER of layout/prototype.h. -ENOENT: its file does not tell. */
int control_member(struct control *control, uint64_t address, const char *path, struct buf *out);

void control_symbols_close(struct control_symbols *symbols);

#endif
