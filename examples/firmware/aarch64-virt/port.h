/* QEMU's `virt` machine: nothing that the port would not know. */
#include "ports/aarch64.h"
