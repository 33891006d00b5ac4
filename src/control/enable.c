/*
 * control/enable: see enable.h.
 */
#include "control/enable.h"

#include <inttypes.h>
#include <string.h>

#include "base/glob.h"
#include "control/buffer.h"
#include "control/node.h"
#include "control/rules.h"
#include "control/space.h"
#include "layout/page.h"

int control_enable(struct control *control, uint32_t buffer, const char *system, const char *event,
		   bool on, struct err *err)
{
	int r = control_rules_set(&control->state, buffer, system, event, on, err);

	/* What a trigger may switch on stays on by the rules, and its word says whether it is. */
	for (uint32_t i = 0; !r && i < control->state.nitems; i++) {
		const struct state_item *item = &control->state.items[i].item;

		if (item->kind != STATE_ITEM_SOFT || item->buffer != buffer || !glob_match(system, item->system) ||
		    !glob_match(event, item->event))
			continue;
		r = control_word_change(control, item->count, on, err);
		if (!r && !on)
			r = control_rules_set(&control->state, buffer, item->system, item->event, true, err);
	}
	if (!r && on)
		r = control_buffer_expand(control, &control->state.buffers[buffer], err);
	return r;
}

int control_enable_name(struct control *control, uint32_t buffer, const char *name, bool on,
			struct err *err)
{
	int r = control_enable(control, buffer, name, "*", on, err);

	return r ? r : control_enable(control, buffer, "*", name, on, err);
}

void control_event_format(const struct control_event *event, struct buf *out)
{
	buf_printf(out, "name: %s\nID: %" PRIu32 "\nformat:\n", event->name, event->id);
	buf_add(out, event->body, event->body_len);
	if (!event->body_len || event->body[event->body_len - 1] != '\n')
		buf_putc(out, '\n');
}

static const struct {
	uint32_t id;
	const char *name;
	const char *text;
} builtin[] = {
	{ EVENT_ID_FUNCTION, "function",
	  "name: function\nID: 1\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n\n"
	  "print fmt: \" %ps <-- %ps\", (void *)REC->ip, (void *)REC->parent_ip\n" },
	{ EVENT_ID_KERNEL_STACK, "kernel_stack",
	  "name: kernel_stack\nID: 4\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n\n"
	  "print fmt: \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" \"\\t=> %ps\\n\\t=> %ps\\n\\t=> %ps\\n\" "
	  "\"\\t=> %ps\\n\\t=> %ps\\n\", (void *)REC->caller[0], (void *)REC->caller[1], (void *)REC->caller[2], "
	  "(void *)REC->caller[3], (void *)REC->caller[4], (void *)REC->caller[5], (void *)REC->caller[6], "
	  "(void *)REC->caller[7]\n" },
	{ EVENT_ID_PRINT, "print",
	  "name: print\nID: 5\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
	  "print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n" },
	{ EVENT_ID_BPRINT, "bprint",
	  "name: bprint\nID: 6\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\n"
	  "print fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n" },
	{ EVENT_ID_GRAPH_EXIT, "funcgraph_exit",
	  "name: funcgraph_exit\nID: 10\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long retval;\toffset:16;\tsize:8;\tsigned:0;\n"
	  "\tfield:int depth;\toffset:24;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned int overrun;\toffset:28;\tsize:4;\tsigned:0;\n"
	  "\tfield:unsigned long long calltime;\toffset:32;\tsize:8;\tsigned:0;\n"
	  "\tfield:unsigned long long rettime;\toffset:40;\tsize:8;\tsigned:0;\n\n"
	  "print fmt: \"<-- %ps (%d) (start: %llx  end: %llx) over: %d retval: %lx\", (void *)REC->func, REC->depth, "
	  "REC->calltime, REC->rettime, REC->depth, REC->retval\n" },
	{ EVENT_ID_GRAPH_ENTRY, "funcgraph_entry",
	  "name: funcgraph_entry\nID: 11\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned long func;\toffset:8;\tsize:8;\tsigned:0;\n"
	  "\tfield:int depth;\toffset:16;\tsize:4;\tsigned:1;\n"
	  "\tfield:unsigned long args[];\toffset:24;\tsize:0;\tsigned:0;\n\n"
	  "print fmt: \"--> %ps (%d)\", (void *)REC->func, REC->depth\n" },
	{ EVENT_ID_RAW_DATA, "raw_data",
	  "name: raw_data\nID: 18\nformat:\n" RECORD_HEAD_FORMAT
	  "\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
	  "\tfield:char buf[];\toffset:12;\tsize:0;\tsigned:0;\n\n"
	  "print fmt: \"id:%04x %08x\", REC->id, (int)REC->buf[0]\n" },
};

bool control_builtin_format(uint32_t id, struct buf *out)
{
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++) {
		if (builtin[i].id != id)
			continue;
		buf_puts(out, builtin[i].text);
		return true;
	}
	return false;
}

uint32_t control_builtin_id(const char *name)
{
	for (size_t i = 0; i < sizeof(builtin) / sizeof(builtin[0]); i++)
		if (!strcmp(builtin[i].name, name))
			return builtin[i].id;
	return 0;
}

int node_function_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_FUNCTION, &request->out);
	return 0;
}

int node_graph_entry_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_GRAPH_ENTRY, &request->out);
	return 0;
}

int node_graph_exit_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_GRAPH_EXIT, &request->out);
	return 0;
}

int node_kernel_stack_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_KERNEL_STACK, &request->out);
	return 0;
}

int node_print_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_PRINT, &request->out);
	return 0;
}

int node_bprint_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_BPRINT, &request->out);
	return 0;
}

int node_raw_data_format_read(struct node_request *request, struct err *err)
{
	(void)err;
	control_builtin_format(EVENT_ID_RAW_DATA, &request->out);
	return 0;
}
