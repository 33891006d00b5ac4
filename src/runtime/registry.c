/*
 * runtime/registry: telling the directory what this program brings. See layout/registry.h for how slots are won.
 *
 * Runs in constructors, dlopen and ordinary code, one thread of the process at a time. Other processes are rivals at every
 * step; each may die between any two.
 */
#include <elf.h>
#include <errno.h>
#include <link.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "runtime/local.h"
#include "runtime/runtime.h"

#define PROBES_MAX 4096u

static const struct {
	uint64_t offset;
	uint32_t count;
} tables[REGISTRY_KINDS] = {
	[REGISTRY_EVENT] = { REGISTRY_EVENTS_OFFSET, REGISTRY_EVENTS },
	[REGISTRY_FORMAT] = { REGISTRY_FORMATS_OFFSET, REGISTRY_FORMATS },
	[REGISTRY_ELF] = { REGISTRY_ELFS_OFFSET, REGISTRY_ELFS },
};

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

static struct registry_slot *slot_at(uint32_t kind, uint32_t i)
{
	return (struct registry_slot *)(void *)((char *)runtime.registry + tables[kind].offset) + i;
}

static uint32_t *bucket_at(uint32_t i)
{
	return (uint32_t *)(void *)((char *)runtime.registry + REGISTRY_BUCKETS_OFFSET) + i % REGISTRY_BUCKETS;
}

static bool same(uint32_t kind, uint32_t i, uint32_t hash, uint32_t len)
{
	struct registry_slot *slot = slot_at(kind, i);
	uint64_t text = LOAD(slot->text);

	return LOAD(slot->hash) == hash && LOAD(slot->text_len) == len && text >= REGISTRY_HEAP_OFFSET &&
	       text <= REGISTRY_SIZE - len && !memcmp((char *)runtime.registry + text, scratch.bytes, len);
}

/* The slot that bucket value `value` names if it is our blob's, else -1. */
static int slot_of(uint32_t value, uint32_t kind, uint32_t hash, uint32_t len)
{
	uint32_t i = (value & 0xfffffff) - 1;

	if (value >> 28 != kind || i >= tables[kind].count || !same(kind, i, hash, len))
		return -1;
	/* Its maker may have died before it could say so. */
	STORE_RELEASE(slot_at(kind, i)->state, REGISTRY_READY);
	return (int)i;
}

static int refuse(void)
{
	__atomic_fetch_add(&runtime.registry->refused, 1, __ATOMIC_RELAXED);
	return -ENOSPC;
}

static int claim_slot(uint32_t kind)
{
	uint32_t count = tables[kind].count, from = LOAD(runtime.registry->next[kind]) % count;

	for (uint32_t n = 0; n < count; n++) {
		uint32_t i = (from + n) % count, idle = REGISTRY_FREE;
		struct registry_slot *slot = slot_at(kind, i);

		/* Even a look takes memory where there was none. Slots do not straddle pages. */
		if ((!n || !((uintptr_t)slot & 4095)) && !runtime_back(slot, sizeof(*slot)))
			return -ENOSPC;
		if (LOAD(slot->state) != REGISTRY_FREE ||
		    !__atomic_compare_exchange_n(&slot->state, &idle, (uint32_t)runtime.pid << 2 | REGISTRY_CLAIMED,
						 false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		STORE(runtime.registry->next[kind], (i + 1) % count);
		return (int)i;
	}
	return -ENOSPC;
}

static int fill_slot(uint32_t kind, uint32_t hash, uint32_t len)
{
	struct registry_head *head = runtime.registry;
	struct registry_slot *slot;
	int i = claim_slot(kind);
	uint64_t at;

	/* The slot first: what is taken from the heap is never given back. */
	if (i < 0)
		return i;
	slot = slot_at(kind, (uint32_t)i);
	at = __atomic_fetch_add(&head->heap_used, (len + 7) & ~7ull, __ATOMIC_RELAXED);
	if (at < REGISTRY_HEAP_OFFSET || at > REGISTRY_SIZE - len || !runtime_back((char *)head + at, len)) {
		STORE_RELEASE(slot->state, REGISTRY_FREE);
		return -ENOSPC;
	}
	memcpy((char *)head + at, scratch.bytes, len);
	STORE(slot->hint, 0);
	STORE(slot->text, at);
	STORE(slot->text_len, len);
	STORE(slot->hash, hash);
	STORE(slot->related, kind == REGISTRY_EVENT ? scratch.event.related : 0);
	STORE(slot->number, __atomic_add_fetch(&head->number, 1, __ATOMIC_RELAXED));
	return i;
}

static void give_back(uint32_t kind, int mine)
{
	if (mine >= 0)
		STORE_RELEASE(slot_at(kind, (uint32_t)mine)->state, REGISTRY_FREE);
}

/* The slot of the blob in `scratch`, a new one if need be. */
static int intern(uint32_t kind, uint32_t len)
{
	uint32_t hash = crc32c(kind, scratch.bytes, len);
	int mine = -1;

	for (uint32_t probe = 0; probe < PROBES_MAX; probe++) {
		uint32_t *bucket = bucket_at(hash + probe), value;
		int i;

		if ((!probe || !((uintptr_t)bucket & 4095)) && !runtime_back(bucket, sizeof(*bucket)))
			break;
		/* Partner: the compare-and-swap below, behind a filled slot. */
		value = LOAD_ACQUIRE(*bucket);
		if (!value) {
			if (mine < 0)
				mine = fill_slot(kind, hash, len);
			if (mine < 0)
				break;
			if (__atomic_compare_exchange_n(bucket, &value, kind << 28 | (uint32_t)(mine + 1), false,
							__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
				STORE_RELEASE(slot_at(kind, (uint32_t)mine)->state, REGISTRY_READY);
				return mine;
			}
		}
		i = slot_of(value, kind, hash, len);
		if (i < 0)
			continue;
		give_back(kind, mine);
		return i;
	}
	give_back(kind, mine);
	return refuse();
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
	__atomic_fetch_or(&slot_at(REGISTRY_EVENT, id - EVENT_ID_FIRST)->hint, 1, __ATOMIC_RELAXED);
	if (related)
		__atomic_fetch_or(&slot_at(REGISTRY_EVENT, related - EVENT_ID_FIRST)->hint, 2, __ATOMIC_RELAXED);
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
	if (!lock())
		return -EBUSY;
	i = intern(REGISTRY_EVENT, event_blob(system, name, body, body_len, related));
	if (i >= 0) {
		*id = EVENT_ID_FIRST + (uint32_t)i;
		put_in_force(*id, related);
		*hint = &slot_at(REGISTRY_EVENT, (uint32_t)i)->hint;
	}
	unlock();
	return i < 0 ? i : 0;
}

bool runtime_event_names(uint32_t id, char system[REGISTRY_NAME_MAX + 1], char name[REGISTRY_NAME_MAX + 1],
			 uint32_t *related)
{
	struct registry_slot *slot = slot_at(REGISTRY_EVENT, id - EVENT_ID_FIRST);
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

struct object {
	uintptr_t address;	/* in: an address in it */
	uintptr_t base;
	const char *name;
	const unsigned char *build_id;
	uint32_t build_id_len;
	bool found;
};

static void find_build_id(struct object *object, const ElfW(Phdr) *phdr)
{
	const char *at = (const char *)(object->base + phdr->p_vaddr);
	const char *end = at + phdr->p_memsz;

	while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)at;
		const char *name = at + sizeof(*note);
		const char *desc = name + ((note->n_namesz + 3) & ~3u);

		if (note->n_namesz > 64 || note->n_descsz > (size_t)(end - at))
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(name, "GNU", 4)) {
			object->build_id = (const unsigned char *)desc;
			object->build_id_len = note->n_descsz <= 64 ? note->n_descsz : 64;
			return;
		}
		at = desc + ((note->n_descsz + 3) & ~3u);
	}
}

static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct object *object = arg;
	bool inside = false;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && object->address >= start &&
		    object->address - start < info->dlpi_phdr[i].p_memsz)
			inside = true;
	}
	if (!inside)
		return 0;
	object->base = info->dlpi_addr;
	object->name = info->dlpi_name;
	object->found = true;
	for (int i = 0; i < info->dlpi_phnum && !object->build_id; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			find_build_id(object, &info->dlpi_phdr[i]);
	return 1;
}

static uint32_t elf_blob(const struct object *object)
{
	struct registry_elf_blob *blob = &scratch.elf;
	char *at = (char *)(blob + 1);
	size_t room = 4096;
	ssize_t len;

	memcpy(at, object->build_id, object->build_id_len);
	at += object->build_id_len;
	if (object->name && *object->name) {
		len = (ssize_t)strnlen(object->name, room);
		memcpy(at, object->name, (size_t)len);
	} else {
		len = readlink("/proc/self/exe", at, room);
		if (len < 0)
			len = 0;
	}
	at[len] = '\0';
	*blob = (struct registry_elf_blob){
		.build_id_len = (uint16_t)object->build_id_len, .path_len = (uint16_t)len,
	};
	return (uint32_t)(at + len + 1 - scratch.bytes);
}

uint64_t runtime_symbol_address(const void *address)
{
	struct object object = { .address = (uintptr_t)address };
	int i = -1;

	runtime_start();
	if (!LOAD(runtime.attached))
		return 0;
	dl_iterate_phdr(look, &object);
	if (!object.found || !lock())
		return 0;
	i = intern(REGISTRY_ELF, elf_blob(&object));
	unlock();
	return i < 0 ? 0 : symbol_space_base((uint32_t)i) + (object.address - object.base);
}
