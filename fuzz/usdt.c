/*
 * Any bytes for an ELF file with notes of probes: they are refused, or each is a name and a place within the file.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "symbol/usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	const struct usdt_note *note;
	struct usdt *usdt;

	file_fill(data, size);
	if (usdt_open(&usdt, file_path, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; (note = usdt_at(usdt, i)); i++) {
		struct buf args = BUF_INIT;

		if (!*note->name || !*note->provider || note->offset >= size || note->semaphore >= size)
			abort();
		usdt_put_args(usdt, note, &args);
		if (args.data && strchr(args.data, '\n'))
			abort();
		buf_fini(&args);
	}
	usdt_close(usdt);
	return 0;
}
