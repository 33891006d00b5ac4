/*
 * trigger/format: see format.h.
 */
#include "trigger/format.h"

#include <string.h>

void format_field(struct buf *out, const char *type, const char *name, uint32_t offset, uint32_t size, bool is_signed)
{
	const char *bounds = strncmp(type, "__data_loc", strlen("__data_loc")) ? strchr(type, '[') : NULL;
	int len = bounds ? (int)(bounds - type) : (int)strlen(type);

	buf_printf(out, "\tfield:%.*s %s%s;\toffset:%u;\tsize:%u;\tsigned:%d;\n", len, type, name, bounds ? "[]" : "", offset,
		   size, is_signed);
}
