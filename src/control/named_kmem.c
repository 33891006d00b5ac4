/*
 * control/named_kmem: events of memory. What speaks of zones and free lists is left out.
 *
 * The names of allocation flags stand with their values, and pages with the place they have by default, where the kernel
 * writes expressions that only it can work out.
 */
#include "control/named.h"

#define GFP_PRINT(flags) \
	"(" flags ") ? __print_flags(" flags ", \"|\", " \
	"{ 0x1c24ca, \"GFP_TRANSHUGE\" }, { 0x1c20ca, \"GFP_TRANSHUGE_LIGHT\" }, " \
	"{ 0x100cca, \"GFP_HIGHUSER_MOVABLE\" }, { 0x100cc2, \"GFP_HIGHUSER\" }, { 0x100cc0, \"GFP_USER\" }, " \
	"{ 0x400cc0, \"GFP_KERNEL_ACCOUNT\" }, { 0xcc0, \"GFP_KERNEL\" }, { 0xc40, \"GFP_NOFS\" }, " \
	"{ 0x820, \"GFP_ATOMIC\" }, { 0xc00, \"GFP_NOIO\" }, { 0x2800, \"GFP_NOWAIT\" }, " \
	"{ 0x1, \"GFP_DMA\" }, { 0x4, \"GFP_DMA32\" }, { 0xc00, \"__GFP_RECLAIM\" }, { 0x1, \"__GFP_DMA\" }, " \
	"{ 0x2, \"__GFP_HIGHMEM\" }, { 0x4, \"__GFP_DMA32\" }, { 0x8, \"__GFP_MOVABLE\" }, " \
	"{ 0x10, \"__GFP_RECLAIMABLE\" }, { 0x20, \"__GFP_HIGH\" }, { 0x40, \"__GFP_IO\" }, " \
	"{ 0x80, \"__GFP_FS\" }, { 0x100, \"__GFP_ZERO\" }, { 0x400, \"__GFP_DIRECT_RECLAIM\" }, " \
	"{ 0x800, \"__GFP_KSWAPD_RECLAIM\" }, { 0x1000, \"__GFP_WRITE\" }, { 0x2000, \"__GFP_NOWARN\" }, " \
	"{ 0x4000, \"__GFP_RETRY_MAYFAIL\" }, { 0x8000, \"__GFP_NOFAIL\" }, { 0x10000, \"__GFP_NORETRY\" }, " \
	"{ 0x20000, \"__GFP_MEMALLOC\" }, { 0x40000, \"__GFP_COMP\" }, { 0x80000, \"__GFP_NOMEMALLOC\" }, " \
	"{ 0x100000, \"__GFP_HARDWALL\" }, { 0x200000, \"__GFP_THISNODE\" }, " \
	"{ 0x400000, \"__GFP_ACCOUNT\" }, { 0x800000, \"__GFP_ZEROTAGS\" }, " \
	"{ 0x1000000, \"__GFP_NO_OBJ_EXT\" }" \
	") : \"none\""

/* Where the kernel keeps its note about a page, unless it chose another place at boot. */
#define PAGE "(void *)(0xffffea0000000000UL + REC->pfn * 64)"

const struct named_event named_kmem[] = {
	{ "kfree",
	  "unsigned long call_site; const void * ptr",
	  "\"call_site=%pS ptr=%p\", (void *)REC->call_site, REC->ptr" },
	{ "kmalloc",
	  "unsigned long call_site; const void * ptr; size_t bytes_req; size_t bytes_alloc; unsigned long gfp_flags; int node",
	  "\"call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=%s\", "
	  "(void *)REC->call_site, REC->ptr, REC->bytes_req, REC->bytes_alloc, " GFP_PRINT("REC->gfp_flags") ", "
	  "REC->node, (REC->gfp_flags & 0x400000) ? \"true\" : \"false\"" },
	{ "kmem_cache_alloc",
	  "unsigned long call_site; const void * ptr; string name; size_t bytes_req; size_t bytes_alloc; "
	  "unsigned long gfp_flags; int node; bool accounted",
	  "\"call_site=%pS ptr=%p name=%s bytes_req=%zu bytes_alloc=%zu gfp_flags=%s node=%d accounted=%s\", "
	  "(void *)REC->call_site, REC->ptr, __get_str(name), REC->bytes_req, REC->bytes_alloc, "
	  GFP_PRINT("REC->gfp_flags") ", REC->node, REC->accounted ? \"true\" : \"false\"" },
	{ "kmem_cache_free",
	  "unsigned long call_site; const void * ptr; string name",
	  "\"call_site=%pS ptr=%p name=%s\", (void *)REC->call_site, REC->ptr, __get_str(name)" },
	{ "mm_page_alloc",
	  "unsigned long pfn; unsigned int order; unsigned long gfp_flags; int migratetype",
	  "\"page=%p pfn=0x%lx order=%d migratetype=%d gfp_flags=%s\", REC->pfn != -1UL ? " PAGE " : ((void *)0), "
	  "REC->pfn != -1UL ? REC->pfn : 0, REC->order, REC->migratetype, " GFP_PRINT("REC->gfp_flags") },
	{ "mm_page_free",
	  "unsigned long pfn; unsigned int order",
	  "\"page=%p pfn=0x%lx order=%d\", " PAGE ", REC->pfn, REC->order" },
	{ "mm_page_free_batched",
	  "unsigned long pfn",
	  "\"page=%p pfn=0x%lx order=0\", " PAGE ", REC->pfn" },
	{ "rss_stat",
	  "unsigned int mm_id; unsigned int curr; int member; long size",
	  "\"mm_id=%u curr=%d type=%s size=%ldB\", REC->mm_id, REC->curr, __print_symbolic(REC->member, "
	  "{ 0, \"MM_FILEPAGES\" }, { 1, \"MM_ANONPAGES\" }, { 2, \"MM_SWAPENTS\" }, { 3, \"MM_SHMEMPAGES\" }), REC->size" },
	{ NULL, NULL, NULL },
};
