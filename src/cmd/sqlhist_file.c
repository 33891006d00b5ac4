/*
 * cmd/sqlhist_file: `sqlhist -i FILE`.
 */
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/sqlhist.h"
#include "query/run.h"

static int put(void *arg, const char *bytes, size_t len)
{
	return cmd_put(bytes, len, arg);
}

int sqlhist_file(const char *path, const char *statement, const struct sql_options *options)
{
	struct err err = ERR_INIT;
	struct query_ask ask = { .buffer = options->instance, .statement = statement, .options = options, .arg = &err,
				 .put = put };
	int r = files_open(&ask.dat, path, &err);

	if (r)
		return cmd_fail(&err);
	r = query_run(&ask, &err);
	dat_close(ask.dat);
	return r ? sqlhist_refused(statement, &err) : CMD_DONE;
}
