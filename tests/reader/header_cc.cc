/*
 * The header is one for C++, too.
 */
#include <ringside/dat.h>

#include <string>

#include "reader/lab.h"

int main()
{
	lab_need_unpacking();

	struct ringside_dat *file = lab_open(lab_data("graph.v7.dat"));
	ringside_dat_records *records = lab_read(file);
	std::string first;

	int r = ringside_dat_records_each(
		records,
		[](const ringside_dat_record *record, void *context) {
			*static_cast<std::string *>(context) = ringside_dat_record_name(record);
			return 1;
		},
		&first);
	CHECK(r == 1 && first == "funcgraph_entry", "%s", first.c_str());
	ringside_dat_records_close(records);
	ringside_dat_close(file);
	return 0;
}
