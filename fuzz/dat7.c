/* See dat.h. */
#define VERSION 7
#include "dat.h"
