/*
 * control/node: see node.h.
 */
#include "control/node.h"

#include <errno.h>
#include <string.h>

int node_flush(struct node_request *request)
{
	int r;

	if (!request->put || !request->out.len)
		return 0;
	if (buf_failed(&request->out))
		return -ENOMEM;
	r = request->put(request->ctx, request->out.data, request->out.len);
	buf_reset(&request->out);
	return r;
}

struct state_buffer *node_buffer(const struct node_request *request)
{
	return &request->control->state.buffers[request->buffer];
}

static int check_born(struct node_request *request, struct err *err)
{
	const struct control_state *state = &request->control->state;

	if (request->buffer < state->nbuffers && state->buffers[request->buffer].born == request->born)
		return 0;
	return err_set(err, -ENODEV, "the instance is gone");
}

int node_refresh(struct node_request *request, struct err *err)
{
	int r = control_follow(request->control, err);

	return r ? r : check_born(request, err);
}

int node_begin(struct node_request *request, struct err *err)
{
	int r = control_begin(request->control, err);

	if (r)
		return r;
	r = check_born(request, err);
	if (r)
		control_cancel(request->control);
	return r;
}

/* For messages: what was written, cut to a readable length. */
static int shown_len(const struct node_request *request)
{
	size_t len = request->len;

	while (len && (request->text[len - 1] == '\n' || request->text[len - 1] == ' '))
		len--;
	return len < 40 ? (int)len : 40;
}

static int refuse(const struct node_request *request, int code, const char *what, struct err *err)
{
	return err_set(err, code, "'%.*s' %s", shown_len(request), request->text, what);
}

int node_number(const struct node_request *request, uint64_t *value, struct err *err)
{
	const char *text = request->text;
	size_t len = request->len;
	uint64_t sum = 0;

	if (len && text[len - 1] == '\n')
		len--;
	if (len && text[0] == '+') {
		text++;
		len--;
	}
	if (!len)
		return refuse(request, -EINVAL, "is no number", err);
	for (size_t i = 0; i < len; i++)
		if (text[i] < '0' || text[i] > '9')
			return refuse(request, -EINVAL, "is no number", err);
	for (size_t i = 0; i < len; i++) {
		unsigned int digit = (unsigned int)(text[i] - '0');

		if (sum > (UINT64_MAX - digit) / 10)
			return refuse(request, -ERANGE, "is too large a number", err);
		sum = sum * 10 + digit;
	}
	*value = sum;
	return 0;
}

int node_switch(const struct node_request *request, bool *on, struct err *err)
{
	uint64_t value;
	int r = node_number(request, &value, err);

	if (!r && value > 1)
		r = refuse(request, -EINVAL, "is neither 0 nor 1", err);
	if (!r)
		*on = value;
	return r;
}

static bool is_blank(char c)
{
	return c == '\n' || c == ' ' || c == '\t';
}

void node_word(const struct node_request *request, char *word, size_t size)
{
	const char *text = request->text;
	size_t len = request->len;

	while (len && is_blank(text[len - 1]))
		len--;
	while (len && is_blank(*text)) {
		text++;
		len--;
	}
	len = len < size ? len : size - 1;
	memcpy(word, text, len);
	word[len] = '\0';
}

bool node_is(const struct node_request *request, const char *word)
{
	char text[64];

	node_word(request, text, sizeof(text));
	return !strcmp(text, word);
}
