/*
 * A header with events in several files of a program: one event, registered once, traced by all of
 * them; one rider, which writes once.
 */
#define MOCK_MAIN
#include "event/mock.h"

#include "event/several.h"

int main(void)
{
	struct mock_event *files = mock_find("several", "files"),
			  *small = mock_find("several", "files_small");

	CHECK(mock_nevents == 2, "%u events", mock_nevents);
	CHECK(files->interned == 1 && small->interned == 1, "registered %d and %d times", files->interned,
	      small->interned);
	CHECK(mock_nformats == 2, "%u formats: one for each copy of the function", mock_nformats);
	files->hint = 3;
	small->hint = 1;
	mock_builtin[6] = 1;
	trace_several_files(1, "main");
	CHECK(several_other() == &ringside_event_several_files, "two objects of one name");
	several_print(1);
	CHECK(mock_nrecords == 6, "%u records", mock_nrecords);
	for (uint32_t i = 0; i < 4; i++) {
		const struct mock_record *r = &mock_records[i];

		CHECK(r->id == (i % 2 ? small : files)->id && r->data[8] == i / 2 + 1, "record %u", i);
	}
	return mock_failures != 0;
}
