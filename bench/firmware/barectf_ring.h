/*
 * bench/firmware/barectf_ring: the same events by barectf: its generated tracer, with a platform that is a ring of packets, as many and as large
 * as our pages. See barectf.yaml.
 */
#ifndef BARECTF_RING_H
#define BARECTF_RING_H

#include <stdint.h>

void barectf_ring_begin(void);
void barectf_ring_do_sample(uint32_t n);
void barectf_ring_do_brief(uint32_t n);
void barectf_ring_whole(uint32_t a, uint32_t b, uint32_t c);

#endif
