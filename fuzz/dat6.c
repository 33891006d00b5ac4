/* See dat.h. */
#define VERSION 6
#include "dat.h"
