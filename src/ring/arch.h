/*
 * ring/arch: the sections of the CPU this is built for.
 */
#ifndef RING_ARCH_H
#define RING_ARCH_H

#if defined(__x86_64__) && !defined(__ILP32__)
#include "ring/arch/x86_64/section.h"
#elif defined(__i386__)
#include "ring/arch/i386/section.h"
#elif defined(__aarch64__)
#include "ring/arch/aarch64/section.h"
#else
#include "ring/arch/any/section.h"
#endif

#endif
