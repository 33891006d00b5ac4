/*
 * runtime/lend: see lend.h. In libringside alone.
 */
#include "runtime/lend.h"

#include "runtime/runtime.h"

const struct runtime_loan *ringside_runtime_lend(uint32_t version)
{
	static const struct runtime_loan loan = { runtime_is_at, runtime_write_to, runtime_tell_name };

	return version == RUNTIME_LOAN ? &loan : NULL;
}
