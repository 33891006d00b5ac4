/*
 * cmd/kernel: see kernel.h.
 */
#include "cmd/kernel.h"

#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

bool kernel_is_meant(const struct opts *opts)
{
	const char *tracefs = opts_value(opts, "tracefs");
	struct statfs fs;

	if (!tracefs)
		return opts_value(opts, "kernel");
	return !statfs(tracefs, &fs) && fs.f_type == TRACEFS_MAGIC;
}

void kernel_init(struct kernel *kernel, struct source *source, const struct opts *opts)
{
	*kernel = (struct kernel){
		.source = source,
		.btf_file = opts_value(opts, "btf"),
		.readme = BUF_INIT,
		.symbols = { .text = BUF_INIT, .why = ERR_INIT },
		.btf_why = ERR_INIT,
	};
	if (source)
		source_read(source, "README", &kernel->readme, NULL);
}

void kernel_fini(struct kernel *kernel)
{
	btf_close(kernel->module);
	btf_close(kernel->btf);
	free(kernel->symbols.all);
	buf_fini(&kernel->symbols.text);
	free(kernel->blacklist.all);
	buf_fini(&kernel->readme);
}

bool kernel_knows(struct kernel *kernel, const char *text)
{
	return !kernel->readme.len || strstr(kernel->readme.data, text);
}

/* ---- functions ---- */

static int read_symbols(struct kernel *kernel)
{
	struct kallsyms_symbol symbol;
	size_t room = 0;
	char *at;
	int r = kallsyms_read(&kernel->symbols.text, &kernel->symbols.why);

	if (r)
		return r;
	for (at = kernel->symbols.text.data; kallsyms_next(&at, &symbol);) {
		if (!kallsyms_is_code(&symbol))
			continue;
		if (kernel->symbols.n == room) {
			size_t want = room ? room * 2 : 65536;
			struct kallsyms_symbol *more = reallocarray(kernel->symbols.all, want, sizeof(*more));

			if (!more)
				return err_set(&kernel->symbols.why, -ENOMEM, "out of memory");
			kernel->symbols.all = more;
			room = want;
		}
		kernel->symbols.all[kernel->symbols.n++] = symbol;
	}
	return kernel->symbols.n ? 0 : err_set(&kernel->symbols.why, -ENODATA, KALLSYMS ": has no functions");
}

bool kernel_read_symbols(struct kernel *kernel)
{
	if (!kernel->symbols.asked)
		read_symbols(kernel);
	kernel->symbols.asked = true;
	return !kernel->symbols.why.code;
}

uint64_t kernel_text(struct kernel *kernel)
{
	if (!kernel_read_symbols(kernel))
		return 0;
	for (size_t i = 0; i < kernel->symbols.n; i++)
		if (!kernel->symbols.all[i].module && !strcmp(kernel->symbols.all[i].name, "_stext"))
			return kernel->symbols.all[i].address;
	return 0;
}

/* "0xFROM-0xTO<TAB>NAME" */
static void read_blacklist(struct kernel *kernel)
{
	FILE *file = fopen(KERNEL_BLACKLIST, "re");
	unsigned long long from, to;
	char line[512];
	size_t room = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "0x%llx-0x%llx", &from, &to) != 2 || !from)
			continue;
		if (kernel->blacklist.n == room) {
			void *more = reallocarray(kernel->blacklist.all, room = room ? room * 2 : 1024, sizeof(*kernel->blacklist.all));

			if (!more)
				break;
			kernel->blacklist.all = more;
		}
		kernel->blacklist.all[kernel->blacklist.n][0] = from;
		kernel->blacklist.all[kernel->blacklist.n++][1] = to;
	}
	if (file)
		fclose(file);
}

bool kernel_is_blacklisted(struct kernel *kernel, const struct kallsyms_symbol *symbol)
{
	if (!kernel->blacklist.asked)
		read_blacklist(kernel);
	kernel->blacklist.asked = true;
	for (size_t i = 0; symbol->address && i < kernel->blacklist.n; i++)
		if (symbol->address >= kernel->blacklist.all[i][0] && symbol->address < kernel->blacklist.all[i][1])
			return true;
	return false;
}

/* ---- types ---- */

static int open_base(struct kernel *kernel)
{
	const char *path = kernel->btf_file ? kernel->btf_file : BTF_KERNEL "/vmlinux";
	struct err why = ERR_INIT;
	int r;

	if (kernel->btf_asked)
		return kernel->btf ? 0 : kernel->btf_why.code;
	kernel->btf_asked = true;
	r = btf_open(&kernel->btf, path, NULL, &why);
	if (r == -ENOENT && !kernel->btf_file)
		return err_set(&kernel->btf_why, r, "there is no %s: this kernel was built without types (CONFIG_DEBUG_INFO_BTF)", path);
	return r ? err_set(&kernel->btf_why, r, "%s", why.text) : 0;
}

const struct btf *kernel_btf(struct kernel *kernel, const char *module)
{
	char path[128];

	if (open_base(kernel))
		return NULL;
	if (!module || kernel->btf_file || strchr(module, '/'))
		return kernel->btf;
	if (kernel->module && !strcmp(kernel->module_name, module))
		return kernel->module;
	btf_close(kernel->module);
	kernel->module = NULL;
	snprintf(kernel->module_name, sizeof(kernel->module_name), "%s", module);
	snprintf(path, sizeof(path), BTF_KERNEL "/%s", kernel->module_name);
	kernel->btf_why = (struct err)ERR_INIT;
	return btf_open(&kernel->module, path, kernel->btf, &kernel->btf_why) ? NULL : kernel->module;
}
