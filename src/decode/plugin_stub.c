#include <stdlib.h>
#include "decode/plugin.h"
int decode_plugins_new(struct decode_plugins **out, unsigned int flags) { (void)flags; *out = (void *)calloc(1,1); return 0; }
void decode_plugins_free(struct decode_plugins *p) { free(p); }
int decode_plugins_load(struct decode_plugins *p, const char *path, struct err *err) { (void)p;(void)path; return err_set(err,-1,"no"); }
int decode_plugins_set(struct decode_plugins *p, const char *t, struct err *err) { (void)p;(void)t;(void)err; return 0; }
void decode_plugins_list(const struct decode_plugins *p, struct buf *out) { (void)p;(void)out; }
const struct decode_plugin *decode_plugins_find(const struct decode_plugins *p, const struct decode_format *f) { (void)p;(void)f; return NULL; }
struct decode_carry *decode_carry_new(void) { return (void *)calloc(1,1); }
void decode_carry_free(struct decode_carry *c) { free(c); }
int decode_carry_copy(struct decode_carry *t, const struct decode_carry *f) { (void)t;(void)f; return 0; }
bool decode_plugin_print(const struct decode_plugin *p, const struct decode_moment *m, struct buf *o) { (void)p;(void)m;(void)o; return false; }
void decode_plugin_pass(const struct decode_plugin *p, const struct decode_moment *m) { (void)p;(void)m; }
bool decode_plugin_carries(const struct decode_plugin *p) { (void)p; return false; }
