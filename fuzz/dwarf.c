/*
 * Any bytes for an ELF file with debug information: nothing is told of its functions, or prototypes are, and
 * where members are that they lead to.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "symbol/prototype.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = ERR_INIT;
	struct prototypes *prototypes;
	struct prototype prototype;
	struct buf member = BUF_INIT;

	file_fill(data, size);
	if (prototypes_open(&prototypes, &(struct symbol_file){ .path = file_path }, &err)) {
		if (!*err.text)
			abort();
		return 0;
	}
	for (uint64_t at = 0; at < 0x2000; at++) {
		if (!prototypes_at(prototypes, at, &prototype))
			continue;
		if (prototype.nregs > PROTOTYPE_REGISTERS || !strchr(prototype.text, '(') || strlen(prototype.text) > 8192)
			abort();
		/* The file is read anew for each, so only a few are asked for. */
		if (prototype.text[0] == 'p' && member.len < 64)
			prototypes_member(prototypes, &(struct symbol_file){ .path = file_path }, at, "$retval->a->b.c", &member);
	}
	buf_fini(&member);
	prototypes_close(prototypes);
	return 0;
}
