/* Placeholder. */
#include "decode/plugin.h"
int decode_plugins_load(struct decode_plugins *p, const char *path, struct err *err) { (void)p; return err_set(err, -1, "%s: not yet", path); }
