/*
 * layout/tracecmd: what trace-cmd's recorders and receivers say to each other, as far as we speak it. Numbers are big-endian.
 *
 *	receiver			recorder
 *	"tracecmd" -------------------->
 *	  <------------------------------ "-1V3\0"		or, of old: "CPUS\0PAGESIZE\0OPTIONS\0" ...
 *	"V3\0" ------------------------>
 *	  <------------------------------ "766679\0\0"
 *	"OK" -------------------------->
 *	  <------------------------------ TINIT
 *	RINIT (a port for each CPU) --->
 *	  <------------------------------ SEND_DATA ... FIN_DATA: a file's beginning
 *	  <============================== pages, on those ports
 *	  <------------------------------ CLOSE
 */
#ifndef LAYOUT_TRACECMD_H
#define LAYOUT_TRACECMD_H

#include <assert.h>
#include <endian.h>
#include <stdint.h>

#define TRACECMD_HELLO "tracecmd"	/* without its NUL */
#define TRACECMD_V3_ASK "-1V3"		/* these with theirs */
#define TRACECMD_V3 "V3"
#define TRACECMD_V3_MAGIC "766679\0"
#define TRACECMD_OK "OK"		/* without */

#define TRACECMD_MSG_MAX 8192u

enum tracecmd_msg {
	TRACECMD_CLOSE, TRACECMD_TINIT, TRACECMD_RINIT, TRACECMD_SEND_DATA, TRACECMD_FIN_DATA, TRACECMD_NOT_SUPP, TRACECMD_TRACE_REQ,
	TRACECMD_TRACE_RESP, TRACECMD_CLOSE_RESP, TRACECMD_TIME_SYNC, TRACECMD_TRACE_PROXY, TRACECMD_CONT,
};

/* What else there is of the message comes behind the command's own part, of which receivers skip what they do not know. */
struct tracecmd_head {
	uint32_t size;		/* of all */
	uint32_t cmd;
	uint32_t cmd_size;
};
static_assert(sizeof(struct tracecmd_head) == 12, "message");

struct tracecmd_tinit {
	uint32_t cpus, page_size, nr_options;
};

struct tracecmd_rinit {
	uint32_t cpus;
};

#endif
