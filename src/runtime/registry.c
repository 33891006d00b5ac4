/*
 * runtime/registry: telling the directory what this program brings. See layout/registry.h for how slots are won.
 *
 * Runs in constructors, dlopen and ordinary code, one thread of the process at a time. Other processes are rivals at every
 * step; each may die between any two.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "ring/intern.h"
#include "runtime/local.h"
#include "runtime/module.h"
#include "runtime/runtime.h"

/* Where a blob is put together before it is known whether it is new. Under the registration lock. */
static union {
	struct registry_event_blob event;
	struct registry_format_blob format;
	struct registry_elf_blob elf;
	char bytes[REGISTRY_TEXT_MAX];
} scratch;

/* Of the thread that holds the lock. */
static uint64_t signals_before;

/* Signals are held off: a handler that never returns here would keep the lock for good. */
static bool lock(void)
{
	uint64_t before;

	runtime_signals_hold(&before);
	for (uint32_t tries = 0; tries < 1000000; tries++) {
		uint32_t idle = 0;

		if (__atomic_compare_exchange_n(&wiped.registering, &idle, 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED)) {
			signals_before = before;
			return true;
		}
		if (!LOAD(runtime.locked))
			sched_yield();
	}
	runtime_signals_restore(&before);
	return false;
}

static void unlock(void)
{
	uint64_t before = signals_before;

	STORE_RELEASE(wiped.registering, 0);
	runtime_signals_restore(&before);
}

static struct registry_slot *event_slot(uint32_t id)
{
	return intern_slot(runtime.registry, REGISTRY_EVENT, id - EVENT_ID_FIRST);
}

/* The slot of the blob in `scratch`, a new one if need be. */
static int intern(uint32_t kind, uint32_t len)
{
	const struct intern how = { .head = runtime.registry, .pid = (uint32_t)runtime.pid, .back = runtime_back };

	return intern_blob(&how, kind, scratch.bytes, len);
}

static uint32_t event_blob(const char *system, const char *name, const char *body, size_t body_len, uint32_t related)
{
	struct registry_event_blob *blob = &scratch.event;
	char *at = (char *)(blob + 1);

	*blob = (struct registry_event_blob){
		.system_len = (uint16_t)strlen(system), .name_len = (uint16_t)strlen(name), .related = related,
	};
	memcpy(at, system, blob->system_len + 1u);
	at += blob->system_len + 1;
	memcpy(at, name, blob->name_len + 1u);
	at += blob->name_len + 1;
	memcpy(at, body, body_len);
	return (uint32_t)(at + body_len - scratch.bytes);
}

/* From here on events of this kind reach the buffers that want them, whatever the tool does meanwhile. */
static void put_in_force(uint32_t id, uint32_t related)
{
	/* The slot is to be seen before the state is looked at. Partner: the tool publishes, then scans the slots. */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (!runtime_view_know(id))
		return;
	__atomic_fetch_or(&event_slot(id)->hint, 1, __ATOMIC_RELAXED);
	if (related)
		__atomic_fetch_or(&event_slot(related)->hint, 2, __ATOMIC_RELAXED);
}

/* The file that an address is of gets its place in the symbol space now: filters name its functions before any was met. */
static void place(const void *address)
{
	runtime_module_address(runtime_module((uintptr_t)address), (uintptr_t)address);
}

int runtime_event_intern(const char *system, const char *name, const char *body, size_t body_len, uint32_t related,
			 uint32_t *id, const uint32_t **hint)
{
	int i;

	runtime_start();
	if (!LOAD(runtime.attached))
		return -ENOTCONN;
	if (!*system || !*name || strlen(system) > REGISTRY_NAME_MAX || strlen(name) > REGISTRY_NAME_MAX ||
	    body_len > REGISTRY_TEXT_MAX - 256 ||
	    (related && (related < EVENT_ID_FIRST || related >= EVENT_ID_END)))
		return -EINVAL;
	/* It came with a library that was loaded since. */
	if (!runtime_module((uintptr_t)system))
		runtime_modules_learn(false);
	if (!lock())
		return -EBUSY;
	i = intern(REGISTRY_EVENT, event_blob(system, name, body, body_len, related));
	if (i >= 0) {
		*id = EVENT_ID_FIRST + (uint32_t)i;
		intern_adopt(runtime.registry, event_slot(*id));
		put_in_force(*id, related);
		*hint = &event_slot(*id)->hint;
	}
	unlock();
	if (i >= 0) {
		place(system);
		place((const void *)getauxval(AT_ENTRY));
	}
	return i < 0 ? i : 0;
}

bool runtime_event_names(uint32_t id, char system[REGISTRY_NAME_MAX + 1], char name[REGISTRY_NAME_MAX + 1],
			 uint32_t *related)
{
	struct registry_slot *slot = event_slot(id);
	uint64_t text = LOAD(slot->text);
	struct registry_event_blob blob;
	const char *at;

	if (text < REGISTRY_HEAP_OFFSET || text > REGISTRY_SIZE - 256)
		return false;
	at = (const char *)runtime.registry + text;
	memcpy(&blob, at, sizeof(blob));
	if (blob.system_len > REGISTRY_NAME_MAX || blob.name_len > REGISTRY_NAME_MAX)
		return false;
	at += sizeof(blob);
	memcpy(system, at, blob.system_len);
	system[blob.system_len] = '\0';
	at += blob.system_len + 1;
	memcpy(name, at, blob.name_len);
	name[blob.name_len] = '\0';
	*related = blob.related;
	return true;
}

const char *runtime_event_body(uint32_t id, size_t *len)
{
	struct registry_slot *slot = event_slot(id);
	uint64_t text = LOAD(slot->text), end = text + LOAD(slot->text_len), body;
	struct registry_event_blob blob;

	if (text < REGISTRY_HEAP_OFFSET || end > REGISTRY_SIZE || end - text > REGISTRY_TEXT_MAX ||
	    end - text < sizeof(blob))
		return NULL;
	memcpy(&blob, (const char *)runtime.registry + text, sizeof(blob));
	body = text + sizeof(blob) + blob.system_len + 1 + blob.name_len + 1;
	if (body > end)
		return NULL;
	*len = (size_t)(end - body);
	return (const char *)runtime.registry + body;
}

const uint32_t *runtime_builtin_hint(uint32_t id)
{
	runtime_start();
	if (!LOAD(runtime.attached) || id >= EVENT_ID_BUILTIN_END)
		return &runtime_hint_off;
	return &runtime.registry->builtin_hint[id];
}

int runtime_format_intern(uint64_t ip, const char *func, const char *format, uint64_t *address)
{
	size_t func_len = strlen(func), format_len = strlen(format);
	struct registry_format_blob *blob = &scratch.format;
	char *at = (char *)(blob + 1);
	int i;

	runtime_start();
	if (!LOAD(runtime.attached))
		return -ENOTCONN;
	if (func_len + format_len + sizeof(*blob) + 2 > REGISTRY_TEXT_MAX)
		return -EINVAL;
	if (!lock())
		return -EBUSY;
	*blob = (struct registry_format_blob){
		.ip = ip, .func_len = (uint16_t)func_len, .format_len = (uint16_t)format_len,
	};
	memcpy(at, func, func_len + 1);
	memcpy(at + func_len + 1, format, format_len + 1);
	i = intern(REGISTRY_FORMAT, (uint32_t)(sizeof(*blob) + func_len + format_len + 2));
	unlock();
	if (i < 0)
		return i;
	*address = format_space_address((uint32_t)i);
	return 0;
}

/* ---- ELF files ---- */

/* 0: its path cannot be had now. */
static uint32_t elf_blob(const char *name, const unsigned char *build_id, uint32_t build_id_len)
{
	struct registry_elf_blob *blob = &scratch.elf;
	char *at = (char *)(blob + 1);
	size_t room = 4096;
	ssize_t len;

	memcpy(at, build_id, build_id_len);
	at += build_id_len;
	if (*name) {
		len = (ssize_t)strnlen(name, room);
		memcpy(at, name, (size_t)len);
	} else {
		len = LOAD(runtime.locked) ? -1 : readlink("/proc/self/exe", at, room);
		if (len < 0)
			return 0;
	}
	at[len] = '\0';
	*blob = (struct registry_elf_blob){
		.build_id_len = (uint16_t)build_id_len, .path_len = (uint16_t)len, .program = !*name,
	};
	return (uint32_t)(at + len + 1 - scratch.bytes);
}

uint64_t runtime_elf_intern(const char *name, const unsigned char *build_id, uint32_t build_id_len)
{
	int saved = errno, i = -EAGAIN;
	uint32_t len;

	if (!LOAD(runtime.attached) || !lock())
		return 0;
	len = elf_blob(name, build_id, build_id_len);
	if (len)
		i = intern(REGISTRY_ELF, len);
	unlock();
	errno = saved;
	return i >= 0 ? symbol_space_base((uint32_t)i) : i == -EAGAIN ? 0 : MODULE_NOWHERE;
}

uint64_t runtime_symbol_address(const void *address)
{
	const struct module *module;
	uint64_t symbol;

	runtime_start();
	if (!LOAD(runtime.attached))
		return 0;
	module = runtime_module((uintptr_t)address);
	if (!module) {
		runtime_modules_learn(false);
		module = runtime_module((uintptr_t)address);
	}
	symbol = runtime_module_address(module, (uintptr_t)address);
	return symbol < SYMBOL_SPACE_BASE ? 0 : symbol;
}
