/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process in which a call fails: of DAT, or one for memory that our libraries
 * make, of whatever thread. Memory of theirs that is not given back
 * is counted. The sanitizers have an allocator of their own, so in their builds
 * only calls of DAT fail, and it is they who look for leaks.
 */
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>

#include "dapl_rail/base/dat.h"
#include "ranks.h"
#include "tests/stand_in.h"

enum fault_kind { FAULT_DAT, FAULT_MEMORY };

#define CALLERS_MOST 256u

static struct {
    enum fault_kind kind;
    unsigned caller, call; /* the one that fails; call 0: none does */
    atomic_bool armed, fired;
    const char *_Atomic what; /* has failed */
    atomic_flag lock;
    struct fault_caller { /* in the order in which they called first */
        const void *from;
        unsigned calls; /* in this run */
        unsigned usual; /* in the last one without a fault */
    } callers[CALLERS_MOST];
    unsigned n;
} fault = {.lock = ATOMIC_FLAG_INIT};

static struct fault_caller *fault_caller(const void *from)
{
    unsigned i = 0;
    while (i < fault.n && fault.callers[i].from != from)
        i++;
    if (i == fault.n && fault.n + 1 < CALLERS_MOST)
        fault.callers[fault.n++].from = from;
    return &fault.callers[i];
}

/* Is this call, of that kind, the one? */
static bool fault_hits(enum fault_kind kind, const char *what, const void *from)
{
    if (!atomic_load(&fault.armed) || fault.kind != kind)
        return false;
    while (atomic_flag_test_and_set(&fault.lock))
        ;
    struct fault_caller *c = fault_caller(from);
    bool hit = ++c->calls == fault.call && c == &fault.callers[fault.caller];
    atomic_flag_clear(&fault.lock);
    if (!hit)
        return false;
    atomic_store(&fault.what, what);
    atomic_store(&fault.fired, true);
    return true;
}
#define CALLER __builtin_return_address(0)

/* ----------------------------------------------------------------- DAT --- */

#define FAULT_RETURN                                                           \
    ((DAT_RETURN)(DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES))

/* NAME(parameters, arguments): calls that may fail, of those that libdapl_rail
 * makes; looks at EVDs are not among them. */
#define FAULTY_CALLS(CALL)                                                     \
    CALL(dat_ia_openv,                                                         \
         (DAT_NAME_PTR a, DAT_COUNT b, DAT_EVD_HANDLE * c, DAT_IA_HANDLE * d,  \
          DAT_UINT32 e, DAT_UINT32 f, DAT_BOOLEAN g),                          \
         (a, b, c, d, e, f, g))                                                \
    CALL(dat_ia_query,                                                         \
         (DAT_IA_HANDLE a, DAT_EVD_HANDLE * b, DAT_IA_ATTR_MASK c,             \
          DAT_IA_ATTR * d, DAT_PROVIDER_ATTR_MASK e, DAT_PROVIDER_ATTR * f),   \
         (a, b, c, d, e, f))                                                   \
    CALL(dat_pz_create, (DAT_IA_HANDLE a, DAT_PZ_HANDLE * b), (a, b))          \
    CALL(dat_evd_create,                                                       \
         (DAT_IA_HANDLE a, DAT_COUNT b, DAT_CNO_HANDLE c, DAT_EVD_FLAGS d,     \
          DAT_EVD_HANDLE * e),                                                 \
         (a, b, c, d, e))                                                      \
    CALL(dat_psp_create,                                                       \
         (DAT_IA_HANDLE a, DAT_CONN_QUAL b, DAT_EVD_HANDLE c, DAT_PSP_FLAGS d, \
          DAT_PSP_HANDLE * e),                                                 \
         (a, b, c, d, e))                                                      \
    CALL(dat_psp_create_any,                                                   \
         (DAT_IA_HANDLE a, DAT_CONN_QUAL * b, DAT_EVD_HANDLE c,                \
          DAT_PSP_FLAGS d, DAT_PSP_HANDLE * e),                                \
         (a, b, c, d, e))                                                      \
    CALL(dat_lmr_create,                                                       \
         (DAT_IA_HANDLE a, DAT_MEM_TYPE b, DAT_REGION_DESCRIPTION c,           \
          DAT_VLEN d, DAT_PZ_HANDLE e, DAT_MEM_PRIV_FLAGS f, DAT_VA_TYPE g,    \
          DAT_LMR_HANDLE * h, DAT_LMR_CONTEXT * i, DAT_RMR_CONTEXT * j,        \
          DAT_VLEN * k, DAT_VADDR * l),                                        \
         (a, b, c, d, e, f, g, h, i, j, k, l))                                 \
    CALL(dat_ep_create,                                                        \
         (DAT_IA_HANDLE a, DAT_PZ_HANDLE b, DAT_EVD_HANDLE c,                  \
          DAT_EVD_HANDLE d, DAT_EVD_HANDLE e, const DAT_EP_ATTR *f,            \
          DAT_EP_HANDLE *g),                                                   \
         (a, b, c, d, e, f, g))                                                \
    CALL(dat_ep_connect,                                                       \
         (DAT_EP_HANDLE a, DAT_IA_ADDRESS_PTR b, DAT_CONN_QUAL c,              \
          DAT_TIMEOUT d, DAT_COUNT e, const DAT_PVOID f, DAT_QOS g,            \
          DAT_CONNECT_FLAGS h),                                                \
         (a, b, c, d, e, f, g, h))                                             \
    CALL(dat_ep_reset, (DAT_EP_HANDLE a), (a))                                 \
    CALL(                                                                      \
        dat_ep_get_status,                                                     \
        (DAT_EP_HANDLE a, DAT_EP_STATE * b, DAT_BOOLEAN * c, DAT_BOOLEAN * d), \
        (a, b, c, d))                                                          \
    CALL(dat_cr_query,                                                         \
         (DAT_CR_HANDLE a, DAT_CR_PARAM_MASK b, DAT_CR_PARAM * c), (a, b, c))  \
    CALL(dat_cr_accept,                                                        \
         (DAT_CR_HANDLE a, DAT_EP_HANDLE b, DAT_COUNT c, const DAT_PVOID d),   \
         (a, b, c, d))                                                         \
    CALL(dat_ep_post_send,                                                     \
         (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET * c, DAT_DTO_COOKIE d, \
          DAT_COMPLETION_FLAGS e),                                             \
         (a, b, c, d, e))                                                      \
    CALL(dat_ep_post_recv,                                                     \
         (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET * c, DAT_DTO_COOKIE d, \
          DAT_COMPLETION_FLAGS e),                                             \
         (a, b, c, d, e))                                                      \
    CALL(dat_ep_post_rdma_write,                                               \
         (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET * c, DAT_DTO_COOKIE d, \
          const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f),                   \
         (a, b, c, d, e, f))                                                   \
    CALL(dat_ep_post_rdma_read,                                                \
         (DAT_EP_HANDLE a, DAT_COUNT b, DAT_LMR_TRIPLET * c, DAT_DTO_COOKIE d, \
          const DAT_RMR_TRIPLET *e, DAT_COMPLETION_FLAGS f),                   \
         (a, b, c, d, e, f))

/* Calls that free something: if they fail, it stays. */
#define FAULTY_ENDS(CALL)                                                      \
    CALL(dat_evd_free, (DAT_EVD_HANDLE a), (a))                                \
    CALL(dat_psp_free, (DAT_PSP_HANDLE a), (a))                                \
    CALL(dat_lmr_free, (DAT_LMR_HANDLE a), (a))                                \
    CALL(dat_pz_free, (DAT_PZ_HANDLE a), (a))                                  \
    CALL(dat_ep_free, (DAT_EP_HANDLE a), (a))                                  \
    CALL(dat_ep_disconnect, (DAT_EP_HANDLE a, DAT_CLOSE_FLAGS b), (a, b))      \
    CALL(dat_cr_reject, (DAT_CR_HANDLE a, DAT_COUNT b, const DAT_PVOID c),     \
         (a, b, c))

#define DEFINE_FAULTY(name, parameters, arguments)                             \
    STAND_IN DAT_RETURN name parameters                                        \
    {                                                                          \
        if (fault_hits(FAULT_DAT, #name, CALLER))                              \
            return FAULT_RETURN;                                               \
        return real(name) arguments;                                           \
    }
FAULTY_CALLS(DEFINE_FAULTY)
FAULTY_ENDS(DEFINE_FAULTY)

/* RDMA writes with immediate data, and atomics. */
STAND_IN DAT_RETURN dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...)
{
    va_list args;
    if (fault_hits(FAULT_DAT, "dat_extension_op", CALLER))
        return FAULT_RETURN;
    va_start(args, op);
    DAT_RETURN status = DAT_HANDLE_EXTENDEDOP(handle, op, args);
    va_end(args);
    return status;
}

/* -------------------------------------------------------------- memory --- */

#define BLOCKS_MOST 65536u /* that are kept at a time; a power of 2 */

static struct {
    uintptr_t begin[8], end[8]; /* code of our libraries */
    unsigned n;
} libraries;

static struct {
    atomic_flag lock;
    void *at[BLOCKS_MOST];
    const void *caller[BLOCKS_MOST];
    unsigned round[BLOCKS_MOST];
    unsigned n, now; /* now: counts faults_on() */
} blocks = {.lock = ATOMIC_FLAG_INIT};

static int library_seen(struct dl_phdr_info *info, size_t size, void *unused)
{
    static const char *const names[] = {"libdapl_", "libdcoll", "libddsm"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        if (!strstr(info->dlpi_name, names[i]) || libraries.n == 8)
            continue;
        for (int p = 0; p < info->dlpi_phnum; p++)
            if (info->dlpi_phdr[p].p_type == PT_LOAD &&
                info->dlpi_phdr[p].p_flags & PF_X) {
                uintptr_t at = info->dlpi_addr + info->dlpi_phdr[p].p_vaddr;
                libraries.begin[libraries.n] = at;
                libraries.end[libraries.n++] = at + info->dlpi_phdr[p].p_memsz;
            }
        break;
    }
    return 0;
}

#ifdef DRAIL_SANITIZE
enum { FAULTS_OF_MEMORY = 0 };
#else
enum { FAULTS_OF_MEMORY = 1 };

static bool is_ours(const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    for (unsigned i = 0; i < libraries.n; i++)
        if (at >= libraries.begin[i] && at < libraries.end[i])
            return true;
    return false;
}

static unsigned place_of(const void *block)
{
    return (unsigned)((uintptr_t)block / 16 * 2654435761u) % BLOCKS_MOST;
}

static void blocks_lock(void)
{
    while (atomic_flag_test_and_set(&blocks.lock))
        ;
}

static void block_add(void *block, const void *caller)
{
    blocks_lock();
    unsigned at = place_of(block);
    while (blocks.at[at] > (void *)1)
        at = (at + 1) % BLOCKS_MOST;
    blocks.at[at] = block;
    blocks.caller[at] = caller;
    blocks.round[at] = blocks.now;
    blocks.n++;
    atomic_flag_clear(&blocks.lock);
}

/* A place that was used once is no end of a search: 1. */
static void block_remove(const void *block)
{
    blocks_lock();
    unsigned at = place_of(block), looks = 0;
    while (blocks.at[at] && blocks.at[at] != block && looks++ < BLOCKS_MOST)
        at = (at + 1) % BLOCKS_MOST;
    if (blocks.at[at] == block) {
        blocks.at[at] = (void *)1;
        blocks.n--;
    }
    atomic_flag_clear(&blocks.lock);
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *block);

#define ALLOCATE(name, call)                                                   \
    bool ours = is_ours(CALLER);                                               \
    if (ours && fault_hits(FAULT_MEMORY, name, CALLER)) {                      \
        errno = ENOMEM;                                                        \
        return NULL;                                                           \
    }                                                                          \
    void *block = call;                                                        \
    if (block && ours)                                                         \
        block_add(block, CALLER);                                              \
    return block

STAND_IN void *malloc(size_t size)
{
    ALLOCATE("malloc", __libc_malloc(size));
}

STAND_IN void *calloc(size_t count, size_t size)
{
    ALLOCATE("calloc", __libc_calloc(count, size));
}

STAND_IN void *aligned_alloc(size_t align, size_t size)
{
    ALLOCATE("aligned_alloc", __libc_memalign(align, size));
}

STAND_IN int posix_memalign(void **out, size_t align, size_t size)
{
    bool ours = is_ours(CALLER);
    if (ours && fault_hits(FAULT_MEMORY, "posix_memalign", CALLER))
        return ENOMEM;
    *out = __libc_memalign(align, size);
    if (*out && ours)
        block_add(*out, CALLER);
    return *out ? 0 : ENOMEM;
}

STAND_IN void *realloc(void *old, size_t size)
{
    bool ours = is_ours(CALLER);
    if (ours && fault_hits(FAULT_MEMORY, "realloc", CALLER)) {
        errno = ENOMEM;
        return NULL;
    }
    if (old)
        block_remove(old);
    void *block = __libc_realloc(old, size);
    if (ours && (block || old))
        block_add(block ? block : old, CALLER);
    return block;
}

STAND_IN void free(void *block)
{
    if (block)
        block_remove(block);
    __libc_free(block);
}
#endif

/* ----------------------------------------------------------- the fault --- */

/* From now on, until faults_off(), this call fails of that caller; call 0:
 * none. */
static inline void faults_on(enum fault_kind kind, unsigned caller,
                             unsigned call)
{
    blocks.now++;
    libraries.n = 0;
    dl_iterate_phdr(library_seen, NULL);
    if (fault.kind != kind)
        fault.n = 0;
    for (unsigned i = 0; i < fault.n; i++)
        fault.callers[i].calls = 0;
    fault.kind = kind;
    fault.caller = caller;
    fault.call = call;
    atomic_store(&fault.fired, false);
    atomic_store(&fault.armed, true);
}

static inline void faults_pause(bool paused)
{
    atomic_store(&fault.armed, !paused);
}

/* The next fault: of each caller the first, second and last call. False: that
 * was the last. Callers that are met on the way are tried, too. */
static inline bool faults_next(void)
{
    const struct fault_caller *c = &fault.callers[fault.caller];
    unsigned call = fault.call;
    if (call < 2 && call < c->usual)
        fault.call++;
    else if (call < c->usual)
        fault.call = c->usual;
    else if (++fault.caller < fault.n)
        fault.call = 1;
    else
        return false;
    return true;
}

/* "library+offset", for addr2line. */
static inline void fault_place(const void *caller, char *text, size_t size)
{
    Dl_info info;
    if (!caller || !dladdr(caller, &info))
        snprintf(text, size, "?");
    else
        snprintf(text, size, "%s+0x%zx", strrchr(info.dli_fname, '/') + 1,
                 (size_t)((uintptr_t)caller - (uintptr_t)info.dli_fbase));
}

/* Prints the callers of all that is left since faults_on(). */
static inline void faults_print_left(void)
{
    char place[128];
    for (unsigned i = 0; i < BLOCKS_MOST; i++)
        if (blocks.at[i] > (void *)1 && blocks.round[i] == blocks.now) {
            fault_place(blocks.caller[i], place, sizeof place);
            printf("#   left: a block of %s\n", place);
        }
}

/* Was the call one that takes something away? */
static inline bool fault_of_end(void)
{
#define IS_FAULT_OF(name, parameters, arguments) || !strcmp(what, #name)
    const char *what = atomic_load(&fault.what);
    return what && (false FAULTY_ENDS(IS_FAULT_OF));
}

/* Has it failed? Else there were fewer calls. */
static inline bool faults_off(void)
{
    atomic_store(&fault.armed, false);
    for (unsigned i = 0; i < fault.n && !fault.call; i++)
        fault.callers[i].usual = fault.callers[i].calls;
    return atomic_load(&fault.fired);
}

#endif
