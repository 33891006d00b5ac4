/*
 * cmd/join: the trace files of a host and of its guest, recorded each on its own, told of each
 * other, so that a report of both shows one timeline.
 *
 *	host	GUEST: the guest's name and trace ID, the thread of each virtual CPU
 *	guest	TIME_SHIFT: the host's trace ID, and how times become the host's; and what makes
 *		nanoseconds of them, which is the host's
 *
 * Either file is written anew beside the old one, which it then replaces.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/files.h"
#include "cmd/vcpus.h"
#include "dat/store.h"

static const struct opt join_opts[] = {
	{ 'c', "cpus", "N", "virtual CPUs of the guest, instead of as many as its file says" },
	{ 's', "shift", "SHIFT", "OFFSET,SCALE,FRACTION,TIME to the host's; again for the next CPU" },
	{ 0, "name", "NAME", "of the guest, instead of that of its file" },
	{ 0, NULL, NULL, NULL },
};

#define CPUS_MAX 4096

struct join {
	struct dat *host, *guest;
	const char *name;
	uint32_t nr_cpus;
	struct vcpu *vcpus;
	struct dat_shift_sample *shifts;	/* nr_shifts of them; then one for each CPU */
	uint32_t nr_shifts;
	int32_t *pids;
	size_t nr_pids;
	uint64_t host_id, guest_id;
	struct err err;
};

static bool parse_s64(const char **text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(*text, &end, 0);
	if (end == *text || errno || (*end && *end != ','))
		return false;
	*text = *end ? end + 1 : end;
	return true;
}

/* OFFSET[,SCALE[,FRACTION[,TIME]]] */
static bool parse_shift(const char *text, struct dat_shift_sample *out)
{
	*out = (struct dat_shift_sample){ .scale = 1 };
	return parse_s64(&text, &out->offset) && (!*text || parse_s64(&text, &out->scale)) &&
	       (!*text || parse_s64(&text, &out->fraction)) &&
	       (!*text || parse_s64(&text, &out->time)) && !*text && out->scale > 0 &&
	       out->fraction >= 0 && out->fraction < 64;
}

static const char *parse_shifts(struct join *join, const struct opts *opts)
{
	for (int i = 0; i < opts->nitems; i++) {
		if (!opts->items[i].opt || opts->items[i].opt->letter != 's')
			continue;
		if (join->nr_shifts == CPUS_MAX)
			return "too many -s";
		if (!parse_shift(opts->items[i].value, &join->shifts[join->nr_shifts++]))
			return "-s takes OFFSET,SCALE,FRACTION,TIME, of which all but the first "
			       "may be missing";
	}
	return NULL;
}

static const char *parse(struct join *join, const struct opts *opts)
{
	const char *cpus = opts_value(opts, "cpus"), *wrong = parse_shifts(join, opts);
	int n;

	if (wrong)
		return wrong;
	if (cpus && (!cmd_parse_cpu(cpus, &n) || !n || n > CPUS_MAX))
		return "-c: the number of the guest's CPUs is needed";
	join->nr_cpus = cpus ? (uint32_t)n : 0;
	for (int i = 2; i < opts->nargs; i++) {
		if (!cmd_parse_cpu(opts_arg(opts, i), &n))
			return "the guest's threads are numbers";
		join->pids[join->nr_pids++] = n;
	}
	return NULL;
}

/* Times count cycles of the processor: of the two machines these can be the same. */
static bool counts_cycles(const struct dat *dat)
{
	const char *clock = dat_info(dat)->clock;

	return dat_info(dat)->tsc2nsec.is_set ||
	       (clock && (!strcmp(clock, "x86-tsc") || !strcmp(clock, "tsc2nsec")));
}

static int check_clocks(struct join *join)
{
	const struct dat *odd = counts_cycles(join->host) ? join->guest : join->host;
	const char *clock = dat_info(odd)->clock;
	bool same = counts_cycles(join->host) == counts_cycles(join->guest);

	if (same && (join->nr_shifts || counts_cycles(join->host)))
		return 0;
	return err_set(&join->err, -EINVAL, "%.200s was recorded with the clock %.60s: the host's "
		       "has to be tsc2nsec, and the guest's x86-tsc", dat_info(odd)->path,
		       clock ? clock : "'unknown'");
}

/* A file without an ID gets one. */
static uint64_t id_of(const struct dat *dat)
{
	uint64_t id = dat_info(dat)->traceid;

	while (!id)
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = 0;
	return id;
}

/* Of those given the last holds for all CPUs behind; given none, the events must tell. */
static int complete_shifts(struct join *join)
{
	uint32_t given = join->nr_shifts;

	for (uint32_t i = given; i < join->nr_cpus; i++) {
		if (given) {
			join->shifts[i] = join->shifts[given - 1];
			continue;
		}
		if (!join->vcpus[i].has_offset)
			return err_set(&join->err, -EINVAL, "how far is the guest's clock from "
				       "the host's? Give the negative of tsc-offset in "
				       "/sys/kernel/debug/kvm/PID-*/vcpu%u with -s", i);
		join->shifts[i] = (struct dat_shift_sample){
			.scale = 1, .offset = (int64_t)(0 - (uint64_t)join->vcpus[i].offset),
		};
	}
	return 0;
}

/* Words of an option, in the order of its file. */
struct value {
	struct buf buf;
	bool big_endian;
};

static void word(struct value *value, uint32_t size, uint64_t v)
{
	uint8_t bytes[8];

	dat_store(bytes, size, v, value->big_endian);
	buf_add(&value->buf, bytes, size);
}

static int put_value(struct value *value, enum dat_id id, struct dat_write *write)
{
	int r = buf_failed(&value->buf) ? -ENOMEM :
		dat_write_option(write, id, value->buf.data, value->buf.len);

	buf_fini(&value->buf);
	return r;
}

static int put_id(uint64_t id, bool big_endian, struct dat_write *write)
{
	struct value value = { BUF_INIT, big_endian };

	word(&value, 8, id);
	return put_value(&value, DAT_TRACEID, write);
}

static int put_guest(const struct join *join, struct dat_write *write)
{
	struct value value = { BUF_INIT, dat_info(join->host)->abi.big_endian };

	buf_add(&value.buf, join->name, strlen(join->name) + 1);
	word(&value, 8, join->guest_id);
	word(&value, 4, join->nr_cpus);
	for (uint32_t i = 0; i < join->nr_cpus; i++) {
		word(&value, 4, i);
		word(&value, 4, (uint32_t)join->vcpus[i].pid);
	}
	return put_value(&value, DAT_GUEST, write);
}

/*
 * Of a lone sample readers take the offset only. A scale that is to be heeded therefore stands
 * twice, the second time for times that never come.
 */
static uint32_t samples_of(const struct dat_shift_sample *shift)
{
	return shift->scale == 1 && !shift->fraction ? 1 : 2;
}

static void put_samples(struct value *value, const struct dat_shift_sample *shift)
{
	uint32_t n = samples_of(shift);

	word(value, 4, n);
	word(value, 8, (uint64_t)shift->time);
	if (n == 2)
		word(value, 8, INT64_MAX);
	for (uint32_t i = 0; i < n; i++)
		word(value, 8, (uint64_t)shift->offset);
	for (uint32_t i = 0; i < n; i++)
		word(value, 8, (uint64_t)shift->scale);
}

static int put_shift(const struct join *join, struct dat_write *write)
{
	struct value value = { BUF_INIT, dat_info(join->guest)->abi.big_endian };

	word(&value, 8, join->host_id);
	word(&value, 4, 0);
	word(&value, 4, join->nr_cpus);
	for (uint32_t i = 0; i < join->nr_cpus; i++)
		put_samples(&value, &join->shifts[i]);
	for (uint32_t i = 0; i < join->nr_cpus; i++)
		for (uint32_t j = 0; j < samples_of(&join->shifts[i]); j++)
			word(&value, 8, (uint64_t)join->shifts[i].fraction);
	return put_value(&value, DAT_TIME_SHIFT, write);
}

static int put_tsc(const struct join *join, struct dat_write *write)
{
	const struct dat_info *host = dat_info(join->host);
	struct value value = { BUF_INIT, dat_info(join->guest)->abi.big_endian };

	if (!host->tsc2nsec.is_set)
		return 0;
	word(&value, 4, host->tsc2nsec.mult);
	word(&value, 4, host->tsc2nsec.shift);
	word(&value, 8, host->tsc2nsec.offset);
	return put_value(&value, DAT_TSC2NSEC, write);
}

/* Does an option of the host tell of this guest? It has its name first, and then its ID. */
static bool about_guest(const struct join *join, const struct dat_option *option)
{
	size_t name = strnlen((const char *)option->data, option->len) + 1;

	return option->id == DAT_GUEST && option->len >= name + 8 &&
	       decode_abi_load(option->data + name, 8, dat_info(join->host)->abi.big_endian) ==
	       join->guest_id;
}

static int put_host_options(const struct join *join, struct dat_write *write)
{
	const struct dat_option *option;
	int r = 0;

	for (size_t i = 0; !r && (option = dat_option(join->host, i)); i++)
		if (!about_guest(join, option))
			r = dat_copy_option(option, write);
	if (!r && !dat_info(join->host)->traceid)
		r = put_id(join->host_id, dat_info(join->host)->abi.big_endian, write);
	return r ? r : put_guest(join, write);
}

static int put_guest_options(const struct join *join, struct dat_write *write)
{
	bool has_tsc = dat_info(join->host)->tsc2nsec.is_set;
	const struct dat_option *option;
	int r = 0;

	for (size_t i = 0; !r && (option = dat_option(join->guest, i)); i++)
		if (option->id != DAT_TIME_SHIFT && (option->id != DAT_TSC2NSEC || !has_tsc))
			r = dat_copy_option(option, write);
	if (!r && !dat_info(join->guest)->traceid)
		r = put_id(join->guest_id, dat_info(join->guest)->abi.big_endian, write);
	if (!r)
		r = put_tsc(join, write);
	return r ? r : put_shift(join, write);
}

/* A file as it was but for its options. */
static int put_file(struct join *join, struct dat *dat, const struct dat_copy *copy,
		    struct dat_write *write)
{
	int r = files_copy_sections(dat, write, dat_info(dat)->path, &join->err);

	if (!r)
		r = dat == join->host ? put_host_options(join, write) :
					put_guest_options(join, write);
	return r ? r : dat_copy_buffers(copy, dat, write, &join->err);
}

static int rewrite(struct join *join, struct dat *dat)
{
	struct dat_write *write;
	struct dat_copy copy;
	int r = dat_copy_init(&copy, dat, &join->err);

	if (r)
		return r;
	copy.how.compression = dat_info(dat)->compressor;
	r = dat_write_open(&write, dat_info(dat)->path, &copy.how, &join->err);
	if (!r)
		r = files_finish(write, put_file(join, dat, &copy, write), &join->err);
	dat_copy_fini(&copy);
	return r;
}

/* Both files are open: everything is found out before anything is written. */
static int join_files(struct join *join)
{
	int r = check_clocks(join);

	if (r)
		return r;
	if (!join->nr_cpus)
		join->nr_cpus = dat_info(join->guest)->nr_cpus;
	if (!join->nr_cpus || join->nr_cpus > CPUS_MAX)
		return err_set(&join->err, -EINVAL, "how many CPUs has the guest? Give their "
			       "number with -c");
	r = vcpus_find(join->vcpus, join->nr_cpus, join->pids, join->nr_pids, join->host,
		       &join->err);
	if (!r)
		r = complete_shifts(join);
	if (r)
		return r;
	join->host_id = id_of(join->host);
	join->guest_id = id_of(join->guest);
	if (join->host_id == join->guest_id)
		return err_set(&join->err, -EINVAL, "%.300s is not another machine's file",
			       dat_info(join->guest)->path);
	r = rewrite(join, join->guest);
	return r ? r : rewrite(join, join->host);
}

static int open_and_join(struct join *join, const char *host, const char *guest)
{
	int r = files_open(&join->host, host, &join->err);

	if (!r)
		r = files_open(&join->guest, guest, &join->err);
	if (!r)
		r = join_files(join);
	dat_close(join->guest);
	dat_close(join->host);
	return r;
}

/* "vm" of "/tmp/vm.dat". */
static char *name_of(const char *path)
{
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = strcspn(base, ".");

	return len ? strndup(base, len) : strdup(base);
}

static int run(const struct opts *opts)
{
	const char *host = opts_arg(opts, 0), *guest = opts_arg(opts, 1), *wrong;
	struct join join = { .err = ERR_INIT };
	char *name = name_of(guest);
	int r = CMD_FAILED;

	join.shifts = calloc(CPUS_MAX, sizeof(*join.shifts));
	join.vcpus = calloc(CPUS_MAX, sizeof(*join.vcpus));
	join.pids = calloc((size_t)opts->nargs, sizeof(*join.pids));
	join.name = opts_value(opts, "name") ? opts_value(opts, "name") : name;
	if (!join.shifts || !join.vcpus || !join.pids || !join.name) {
		cmd_say("out of memory");
	} else {
		wrong = parse(&join, opts);
		if (wrong)
			r = cmd_misuse(&cmd_join, "join: %s", wrong);
		else
			r = open_and_join(&join, host, guest) ? cmd_fail(&join.err) : CMD_DONE;
	}
	free(join.shifts);
	free(join.vcpus);
	free(join.pids);
	free(name);
	return r;
}

const struct cmd cmd_join = {
	.name = "join",
	.synopsis = "[-c N] [-s SHIFT]... [--name NAME] HOST GUEST [PID]...",
	.summary = "tell the trace files of a host and a guest of each other",
	.text = "HOST and GUEST are trace files of a host and of a virtual machine on it, which\n"
		"were recorded at the same time. Writes into both what a report needs to show them\n"
		"on one timeline. The host's file has to have kvm's events and the clock tsc2nsec,\n"
		"the guest's the clock x86-tsc. PIDs are those of the guest's threads on the host,\n"
		"for when there are other guests.\n",
	.opts = join_opts,
	.args_min = 2,
	.args_max = -1,
	.on_file = true,
	.run = run,
};
