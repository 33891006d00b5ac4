/*
 * control/probe_world: what there is to name for lines that make probes: functions, files, declared events. Private to the room.
 *
 * A new line is read in the world as it is. What was found out then is kept with the line, behind it in the item's text, so that the
 * line means the same for as long as it is there, whatever becomes of files and programs:
 *
 *   LINE \n path of the file without links \n prototype of the function \n name that plans have for it \n members, PATH MEMBER; each
 *   \n which file it was (stamp.h)
 */
#ifndef CONTROL_PROBE_WORLD_H
#define CONTROL_PROBE_WORLD_H

#include "control/items.h"

/* Fills in what probes ask of a world, for a new line. */
void control_probe_world(struct control_items *items, struct spec_world *world);

/* The item's text, of the line and what it was understood as. */
void control_probe_keep(struct control_items *items, const struct spec_probe *probe, const char *line, size_t len, struct buf *text);
/* Reads it again. */
int control_probe_recall(struct spec_probe **probe, const struct spec_world *world, const char *text, struct spec_error *error);
/* How much of an item's text is the line. */
size_t control_probe_line(const char *text);

/* The functions of all plans, read when first asked for. NULL: they cannot be. */
const struct control_functions *control_items_functions(struct control_items *items);
/* Does it mean this function, whatever is to be done in it? */
bool control_probe_means(const struct spec_probe *probe, const struct control_function *function);

#endif
