/*
 * sys/aside: what recording a system call needs beyond the hot path, in code that is compiled as usual. Runs under func_aside(), with
 * the program's vector registers and errno kept; calls that are made here are the runtime's own, and nobody sees them.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

#include "ring/intern.h"
#include "runtime/runtime.h"
#include "runtime/signal.h"
#include "sys/local.h"

#if defined(__x86_64__) && !defined(__ILP32__)

#define TEXTS_MAX 64u
#define STAT_SIZE 144u

void sys_write_aside(void *arg)
{
	const struct sys_record *record = arg;

	runtime_write(record->id, record->record, record->len);
}

void sys_refresh_aside(void *unused)
{
	(void)unused;
	func_current_view();
}

void sys_adopt(uint32_t id)
{
	if (id >= EVENT_ID_FIRST && id < EVENT_ID_END)
		intern_adopt(runtime.registry, intern_slot(runtime.registry, REGISTRY_EVENT, id - EVENT_ID_FIRST));
}

void sys_told_aside(void *arg)
{
	const uint64_t number = *(const uint64_t *)arg;
	const struct view *view = func_current_view();
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;

	if (!calls)
		return;
	sys_adopt(calls->raw_enter);
	sys_adopt(calls->raw_exit);
	sys_adopt(calls->data_id);
	sys_adopt(calls->enter[number]);
	sys_adopt(calls->exit[number]);
	STORE(sys_told[number], LOAD_ACQUIRE(view->published));
}

void sys_arm_aside(void *unused)
{
	(void)unused;
	sys_arm();
}

void sys_keep_aside(void *unused)
{
	(void)unused;
	sys_handlers_keep();
}

void sys_born_aside(void *unused)
{
	(void)unused;
	sys_handlers_bring();
	sys_arm();
}

void sys_life_aside(void *arg)
{
	const struct sys_living *living = arg;

	if (living->what == SYS_LIFE_FORKING)
		runtime_life_forking();
	else if (living->what == SYS_LIFE_BORN)
		runtime_life_born();
	else if (living->what == SYS_LIFE_FORKED)
		runtime_life_forked(living->child);
	else
		runtime_life_ends(living->whole);
}

void sys_guard_aside(void *arg)
{
	const struct sys_guard *guard = arg;

	if (guard->enter)
		runtime_guard_enter();
	else
		runtime_guard_leave();
}

/* ---- The program's own wish for SIGSYS ---- */

void sys_action_aside(void *arg)
{
	struct sys_action *action = arg;
	const struct kernel_action *from = action->act;
	struct kernel_action *to = action->old;
	struct sigaction act, old;

	memset(&act, 0, sizeof(act));
	if (from) {
		act.sa_handler = (void (*)(int))(uintptr_t)from->handler;
		act.sa_flags = (int)from->flags;
		memcpy(&act.sa_mask, &from->mask, sizeof(from->mask));
	}
	/* A child that shares our memory and is about to become something else tidies up for itself alone. */
	action->result = runtime_signal_program(SIGSYS, from && !runtime_self.guard ? &act : NULL, &old);
	if (!to)
		return;
	to->handler = (uintptr_t)old.sa_handler;
	to->flags = (uint64_t)old.sa_flags;
	to->restorer = 0;
	memcpy(&to->mask, &old.sa_mask, sizeof(to->mask));
}

/* ---- Signals that are sent ---- */

/* Which of its arguments names the thread or process, and which the signal; and what the kernel says of how it was sent. */
static void read_signal(const struct calls_frame *call, struct record_signal *record)
{
	const bool second = call->number == SYS_tgkill || call->number == SYS_rt_tgsigqueueinfo;

	record->pid = (int32_t)call->args[second];
	record->sig = (int32_t)call->args[1 + second];
	record->code = call->number == SYS_kill ? SI_USER : call->number == SYS_tkill || call->number == SYS_tgkill ? SI_TKILL : SI_QUEUE;
	record->group = call->number == SYS_kill || call->number == SYS_rt_sigqueueinfo;
}

/* Would it be sent? The same call with no signal tells. */
static bool may_send(const struct calls_frame *call)
{
	const bool second = call->number == SYS_tgkill || call->number == SYS_rt_tgsigqueueinfo;

	if (LOAD(runtime.locked))
		return true;
	return !(second ? sys_raw(SYS_tgkill, (long)call->args[0], (long)call->args[1], 0, 0, 0, 0) :
			  sys_raw(SYS_kill, (long)call->args[0], 0, 0, 0, 0, 0));
}

/* The name of a thread, of whichever process. */
static void name_of(int32_t pid, char comm[16])
{
	char path[32] = "/proc/", digits[12], *at = path + 6;
	int n = 0;
	long fd;

	for (int32_t rest = pid; rest > 0; rest /= 10)
		digits[n++] = (char)('0' + rest % 10);
	while (n)
		*at++ = digits[--n];
	memcpy(at, "/comm", 6);
	fd = pid > 0 && !LOAD(runtime.locked) ? sys_raw(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0) : -1;
	if (fd < 0)
		return;
	sys_raw(SYS_read, fd, (long)comm, 15, 0, 0, 0);
	sys_raw(SYS_close, fd, 0, 0, 0, 0, 0);
	comm[strcspn(comm, "\n")] = '\0';
}

void sys_signal_aside(void *arg)
{
	const struct calls_frame *call = arg;
	const struct view *view = func_current_view();
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;
	const uint32_t id = calls ? calls->generate_id : 0;
	struct record_signal record;

	if (!id || !LOAD(view->mask[id % EVENT_ID_END]))
		return;
	memset(&record, 0, sizeof(record));
	read_signal(call, &record);
	if (record.sig && may_send(call)) {
		sys_adopt(id);
		name_of(record.pid, record.comm);
		runtime_write(id, &record, sizeof(record));
	}
}

/* ---- What arguments point to ---- */

static uint32_t look_text(char *to, uint64_t from)
{
	uint32_t n = sys_peek(to, from, CALLS_DATA_MAX);
	const char *end = memchr(to, '\0', n);

	return end ? (uint32_t)(end - to) + 1 : n;
}

static uint32_t look_texts(char *to, uint64_t from)
{
	uint64_t each[TEXTS_MAX];
	uint32_t n = sys_peek(each, from, sizeof(each)) / (uint32_t)sizeof(each[0]), len = 0;
	char text[256];

	for (uint32_t i = 0; i < n && each[i]; i++) {
		uint32_t got = sys_peek(text, each[i], sizeof(text) - 1);
		size_t size;

		text[got] = '\0';
		size = strlen(text) + 1;
		if (len + size > CALLS_DATA_MAX)
			break;
		memcpy(to + len, text, size);
		len += (uint32_t)size;
	}
	return len;
}

/* How much there is, by what it is; 0: nothing to look at now. */
static uint64_t size_of(const struct calls_frame *call, uint32_t arg, uint32_t kind, bool behind)
{
	const bool failed = behind && call->result < 0;

	if (behind != (kind >= CALL_DATA_OUT) || failed || !call->args[arg])
		return 0;
	switch (kind) {
	case CALL_DATA_IN:
		return arg + 1 < CALLS_ARGS ? call->args[arg + 1] : 0;
	case CALL_DATA_IN8:
	case CALL_DATA_OUT8:
		return 8;
	case CALL_DATA_IN16:
	case CALL_DATA_OUT16:
		return 16;
	case CALL_DATA_IN32:
		return 32;
	case CALL_DATA_OUT:
		return (uint64_t)call->result;
	case CALL_DATA_OUT144:
		return STAT_SIZE;
	default:
		return CALLS_DATA_MAX;
	}
}

static void tell(uint32_t id, const struct calls_frame *call, uint32_t arg, uint32_t kind, uint64_t size)
{
	struct record_call_data *record = runtime_stage_get();
	const bool text = kind == CALL_DATA_TEXT || kind == CALL_DATA_OUT_TEXT;
	uint32_t n;

	if (!record) {
		runtime_lose(id);
		return;
	}
	if (text)
		n = look_text(record->bytes, call->args[arg]);
	else if (kind == CALL_DATA_TEXTS)
		n = look_texts(record->bytes, call->args[arg]);
	else
		n = sys_peek(record->bytes, call->args[arg], size < CALLS_DATA_MAX ? (uint32_t)size : CALLS_DATA_MAX);
	if (n) {
		record->number = call->number;
		record->arg = (int32_t)arg;
		record->size = text || kind == CALL_DATA_TEXTS ? n : (uint32_t)size;
		record->data = n << 16 | (uint32_t)offsetof(struct record_call_data, bytes);
		memset(record->bytes + n, 0, n % 4 ? 4 - n % 4 : 0);
		runtime_write(id, record, (offsetof(struct record_call_data, bytes) + n + 3) & ~3u);
	}
	runtime_stage_put(record);
}

void sys_data_aside(void *arg)
{
	const struct sys_look *look = arg;
	const struct view *view = func_current_view();
	const struct state_calls *calls = view ? LOAD(view->calls) : NULL;
	const uint32_t id = calls ? calls->data_id : 0, data = calls ? calls->data[look->call->number % CALLS_MAX] : 0;

	for (uint32_t i = 0; id && i < CALLS_ARGS; i++) {
		const uint32_t kind = data >> 4 * i & 15;
		const uint64_t size = kind ? size_of(look->call, i, kind, look->behind) : 0;

		if (size)
			tell(id, look->call, i, kind, size);
	}
}

#endif
