/*
 * A field of each common kind, as a `format` text has them: for events whose other fields a target chooses, from offset 52 on.
 */
#ifndef FUZZ_FIELDS_H
#define FUZZ_FIELDS_H

#include "layout/page.h"

#define FUZZ_FIELDS \
	"name: e\nID: 7\nformat:\n" RECORD_HEAD_FORMAT \
	"\tfield:int i;\toffset:8;\tsize:4;\tsigned:1;\n" \
	"\tfield:unsigned int u;\toffset:12;\tsize:4;\tsigned:0;\n" \
	"\tfield:unsigned long l;\toffset:16;\tsize:8;\tsigned:0;\n" \
	"\tfield:s64 s;\toffset:24;\tsize:8;\tsigned:1;\n" \
	"\tfield:double d;\toffset:32;\tsize:8;\tsigned:1;\n" \
	"\tfield:char n[8];\toffset:40;\tsize:8;\tsigned:0;\n" \
	"\tfield:__data_loc char[] t;\toffset:48;\tsize:4;\tsigned:0;\n"

#endif
