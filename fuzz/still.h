/*
 * Before all of the rooms that talk to others: nobody waits there, and time goes by when somebody would have. See still_target.h.
 */
#ifndef FUZZ_STILL_H
#define FUZZ_STILL_H

#define poll still_poll
#define clock_gettime still_clock

#endif
