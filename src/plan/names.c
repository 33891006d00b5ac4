/*
 * plan/names: see names.h.
 */
#include "plan/names.h"

#include <stddef.h>
#include <string.h>

#include "base/glob.h"
#include "layout/plan.h"

static const char *const unwinds[] = {
	"_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Resume_or_Rethrow", "_Unwind_ForcedUnwind", "_Unwind_Backtrace",
	/* libunwind's, of both makes. */
	"unw_init_local*", "unw_step", "unw_backtrace", "_U*_init_local*", "_U*_step", "__unw_init_local", "__unw_step",
	NULL
};

static const char *const looks_back[] = {
	"_Unwind_*", "dl_iterate_phdr", "__register_frame*", "__deregister_frame*", "backtrace", "__backtrace",
	"_U*_getcontext", "unw_getcontext", "__unw_getcontext",
	/* The loader asks who called: that is where a search begins. */
	"dlopen", "dlmopen", "dlsym", "dlvsym", "dladdr", "dladdr1", "dlinfo", "dlerror", "dlclose", "___dl*", "__dl*",
	"__libc_dl*", "_dl_*",
	/* Profilers and sanitizers note who called. */
	"mcount", "_mcount", "__fentry__", "__mcount_internal", "__cyg_profile_func_*", "__asan_*", "__hwasan_*", "__lsan_*",
	"__msan_*", "__tsan_*", "__ubsan_*", "__sanitizer_*", "__interceptor_*", "___interceptor_*",
	/* They return twice, or to where another one was called. */
	"setjmp", "_setjmp", "__setjmp", "sigsetjmp", "__sigsetjmp*", "longjmp", "_longjmp", "siglongjmp", "__longjmp*",
	"____longjmp_chk", "__libc_longjmp", "__libc_siglongjmp", "getcontext", "__getcontext", "setcontext", "__setcontext",
	"swapcontext", "__swapcontext", "*jump_fcontext", "*ontop_fcontext", "coro_transfer", "vfork", "__vfork", "__libc_vfork",
	"clone", "__clone*", "clone3",
	/* They move their frame, with the return address. */
	"ffi_call_unix64", "ffi_call_win64", "ffi_call_efi64", "__rust_probestack", "__probestack",
	/* A thread's and a program's first and last: whoever unwinds a thread that ends stops there. */
	"__libc_start_main*", "__libc_start_call_main", "start_thread", "pthread_exit", "__pthread_exit", "__pthread_unwind*",
	NULL
};

static const char *const special[] = {
	"_start", "__restore_rt", "__restore", "__start_context", "_dl_runtime_*", "_dl_tlsdesc*", "__morestack*",
	"__x86_indirect_*", "__x86_return_thunk", "__llvm_retpoline_*", "__x86.get_pc_thunk.*",
	/* V8 copies them to where its own code is, and runs the copies. */
	"Builtins_*",
	NULL
};

static const char *const parts[] = { "*.cold", "*.cold.[0-9]*", NULL };

/* A thread is cancelled, or not, by where in these a signal finds it. */
static const char *const by_address[] = { "__syscall_cancel_arch*", "__syscall_cp_asm", "__cp_*", NULL };

static bool is_any(const char *const *patterns, const char *name)
{
	for (; *patterns; patterns++)
		if (glob_match(*patterns, name))
			return true;
	return false;
}

uint16_t names_flags(const char *name)
{
	uint16_t flags = 0;

	if (is_any(unwinds, name))
		flags |= PLAN_SITE_UNWINDS;
	if (is_any(looks_back, name))
		flags |= PLAN_SITE_NO_RETURN_HOOK;
	if (!strcmp(name, "_dl_debug_state"))
		flags |= PLAN_SITE_LOADS | PLAN_SITE_HIDDEN;
	return flags;
}

bool names_special(const char *name)
{
	return is_any(special, name) || is_any(parts, name);
}

bool names_untouchable(const char *name)
{
	return is_any(special, name) || is_any(by_address, name);
}
