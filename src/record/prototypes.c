/*
 * record/prototypes: what functions take and give (layout/prototype.h), for readers of the file to show arguments by.
 *
 * They stand where printk's formats are, each by the address of its function: other readers have them for texts that no record
 * names.
 */
#include <inttypes.h>
#include <string.h>

#include "control/control.h"
#include "control/plans.h"
#include "control/symbols.h"
#include "record/local.h"

#define TEXT_MAX (8u << 20)	/* half of what readers take */

static bool wants(const struct state_buffer *buffer)
{
	return buffer->born && (tracer_wants_args(buffer->tracer, buffer->tracer_flags) ||
				(buffer->tracer == TRACER_GRAPH && buffer->tracer_flags & TRACER_FLAG_GRAPH_RETVAL));
}

void record_prototypes_look(struct record_part *part)
{
	const struct control_state *state;

	if (!part->control || part->prototypes || control_follow(part->control, NULL))
		return;
	state = &part->control->state;
	for (uint32_t b = 0; b < state->nbuffers; b++)
		part->prototypes |= wants(&state->buffers[b]);
}

int record_prototypes_put(struct record_part *part, struct buf *out, struct err *err)
{
	struct control_functions functions;
	int r = control_functions_read(&functions, part->control, err);

	if (r)
		return r;
	for (size_t i = 0; i < functions.n && out->len < TEXT_MAX; i++) {
		const char *text = control_prototype(part->control, functions.all[i].address);

		if (text)
			buf_printf(out, "0x%" PRIx64 " : \"%s\"\n", functions.all[i].address, text);
	}
	control_functions_fini(&functions);
	return 0;
}
