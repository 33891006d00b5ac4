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

bool node_is(const struct node_request *request, const char *word)
{
	const char *text = request->text;
	size_t len = request->len;

	while (len && (text[len - 1] == '\n' || text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	return len == strlen(word) && !memcmp(text, word, len);
}
