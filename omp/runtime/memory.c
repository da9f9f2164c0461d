/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/memory.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "omp/runtime/alone.h"
#include "omp/runtime/early.h"
#include "omp/runtime/fail.h"
#include "omp/runtime/icv.h"
#include "omp/runtime/program_data.h"
#include "omp/wrapper/program.h"

/* Where the space begins in all ranks: far from what the kernel places, and
 * above the shadow memory of AddressSanitizer. */
#define SPACE ((void *)UINT64_C(0x110000000000))

enum {
    ALIGNMENT = 16, /* malloc's */
    WORDS_BYTES = 4096,
    LOCKS = 1 << 16,
    STACKS_LEAST = 8, /* a region may ask for more threads than there are */
    STACKS_LEAST_TOGETHER = 128, /* of all ranks */
    STACKS_MOST = 1024,
    GUARD_BYTES = 64 << 10, /* below each stack */
};
#define HEAP_BYTES  ((size_t)4 << 30)
#define HEAP_LEAST  ((size_t)1 << 20) /* of a rank */
#define HEAP_MOST   ((size_t)1 << 40)
#define STACK_BYTES ((size_t)8 << 20) /* if the system sets no limit */
#define STACK_LEAST ((size_t)64 << 10)
#define STACK_MOST  ((size_t)512 << 20)

_Static_assert(sizeof(struct shared_words) <= WORDS_BYTES, "too many words");
static struct shared_words own_words;
struct shared_words *shared_words = &own_words;

/* Of the ranks of a program; NULL: there is one. */
static ddsm_t *space;
static unsigned rank, ranks = 1;
static bool is_early = true; /* main has not begun */
static char *stacks;         /* each with its guard below */
static size_t stack_bytes;
static unsigned stack_count;
static _Atomic uint64_t acquisitions;

unsigned memory_rank(void)
{
    return rank;
}

unsigned memory_ranks(void)
{
    return ranks;
}

static void check(int rc, const char *what)
{
    if (!rc)
        return;
    const char *why = ddsm_last_error(space);
    if (strstr(why, drail_strerror(rc)))
        fail_of(rc, "%s", why);
    fail_of(rc, "%s: %s: %s", what, drail_strerror(rc), why);
}

/* A fault could not be served. */
static void fault_failed(void *context, int code, const char *sentence)
{
    (void)context;
    fail_of(code, "%s", sentence);
}

/* ------------------------------------------------------------ open, close */

static size_t setting_bytes(const char *name, size_t otherwise)
{
    static const char units[] = "KMGT";
    const char *value = getenv(name);
    char *end;
    if (!value)
        return otherwise;
    errno = 0;
    const size_t number = strtoull(value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    const unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == value || errno || *value == '-' || (*end && !unit) ||
        (unit && end[1]) || number > SIZE_MAX >> shift)
        fail(NOT_SERVED,
             "%s '%s' is wrong (allowed: a number, or one with K, "
             "M, G or T)",
             name, value);
    return number << shift;
}

static size_t whole_pages(size_t bytes)
{
    return (bytes + 4095) & ~(size_t)4095;
}

static size_t heap_bytes(unsigned all_ranks)
{
    const size_t bytes = setting_bytes("RAILOMP_HEAP", HEAP_BYTES);
    if (bytes < all_ranks * HEAP_LEAST || bytes > HEAP_MOST)
        fail(NOT_SERVED,
             "RAILOMP_HEAP '%s' is wrong (allowed: 1M for each rank, to 1T)",
             getenv("RAILOMP_HEAP") ? getenv("RAILOMP_HEAP") : "4G");
    return whole_pages(bytes);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void plan_stacks(unsigned all_ranks)
{
    struct rlimit limit;
    if (settings.threads > STACKS_MOST)
        fail(NOT_SERVED,
             "OMP_NUM_THREADS %u is not served on several ranks (allowed: 1 to "
             "%d in each)",
             settings.threads, STACKS_MOST);
    stack_bytes = STACK_BYTES;
    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur != RLIM_INFINITY)
        stack_bytes = limit.rlim_cur;
    if (settings.stack > stack_bytes)
        stack_bytes = settings.stack;
    if (stack_bytes > STACK_MOST)
        stack_bytes = STACK_MOST;
    stack_bytes = whole_pages(stack_bytes);
    stack_count = larger(larger(settings.threads, STACKS_LEAST),
                         STACKS_LEAST_TOGETHER / all_ranks);
    if (settings.limit > stack_count * all_ranks)
        settings.limit = stack_count * all_ranks;
}

static void *shared_pages(size_t bytes, unsigned home)
{
    const ddsm_place_t place = {
        .homes = DDSM_ONE, .rank = home, .kind = DDSM_OPEN};
    void *p = ddsm_alloc(space, bytes, &place);
    if (!p)
        fail(FAILED, "%s", ddsm_last_error(space));
    return p;
}

static char *guard_of(unsigned thread)
{
    return stacks + thread * (GUARD_BYTES + stack_bytes);
}

static size_t stacks_bytes(void)
{
    return stack_count * (GUARD_BYTES + stack_bytes);
}

static void open_stacks(void)
{
    for (unsigned r = 0; r < ranks; r++) {
        char *p = shared_pages(stacks_bytes(), r);
        if (r == rank)
            stacks = p;
    }
    for (unsigned i = 0; i < stack_count; i++)
        if (mprotect(guard_of(i), GUARD_BYTES, PROT_NONE))
            fail(FAILED, "guards of stacks: %s", strerror(errno));
}

static void open_heap(size_t bytes)
{
    /* as the heap divides itself */
    const ddsm_place_t place = {.homes = DDSM_BLOCK, .kind = DDSM_MOVING};
    void *start = ddsm_alloc(space, bytes, &place);
    check(start ? ddsm_heap_open(space, start, bytes) : DRAIL_ENOMEM, "heap");
}

static bool is_shared(const void *p)
{
    return space && ddsm_has(space, p);
}

/* The child would have no part of the shared memory. */
static void before_fork(void)
{
    if (is_shared(__builtin_frame_address(0)))
        fail(NOT_SERVED, "fork() is not served on several ranks, as the child "
                         "would have no stack; use posix_spawn(), system() or "
                         "popen()");
}

void memory_open(drail_job_t *job)
{
    ddsm_config_t config;
    drail_error_t error = {0};
    void *data;
    size_t data_bytes;
    const size_t heap = heap_bytes(drail_job_size(job));
    program_data(&data, &data_bytes);
    plan_stacks(drail_job_size(job));
    ddsm_config_init(&config);
    config.failed = fault_failed;
    rank = drail_job_rank(job);
    ranks = drail_job_size(job);
    config.base = SPACE;
    config.locks = LOCKS;
    config.serves_packs = true;
    config.pages = settings.copied ? DDSM_PAGES_COPIED : DDSM_PAGES_SHARED;
    config.bytes = WORDS_BYTES + heap + ranks * stacks_bytes() + data_bytes;
    if (early_is_overfull())
        fail(NOT_SERVED, "what runs before main allocates too much memory "
                         "(allowed: 1 MiB)");
    const int rc = ddsm_open(job, &config, &space, &error);
    if (rc)
        fail_open(rc, error.text);
    shared_words = shared_pages(WORDS_BYTES, 0);
    open_stacks();
    open_heap(heap);
    const ddsm_place_t place = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    check(ddsm_adopt(space, data, data_bytes, &place),
          "sharing .data and .bss");
    pthread_atfork(before_fork, NULL, NULL);
    is_early = false;
}

void memory_close(void)
{
    ddsm_close(space);
    space = NULL;
}

void memory_alone(void)
{
    is_early = false;
}

static int choose_stack(pthread_attr_t *attributes, unsigned thread)
{
    if (!space)
        return settings.stack ? pthread_attr_setstacksize(
                                    attributes, settings.stack > STACK_LEAST
                                                    ? settings.stack
                                                    : STACK_LEAST)
                              : 0;
    return pthread_attr_setstack(attributes, guard_of(thread) + GUARD_BYTES,
                                 stack_bytes);
}

int memory_thread(pthread_t *id, unsigned number, void *(*run)(void *),
                  void *argument)
{
    pthread_attr_t attributes;
    int rc = pthread_attr_init(&attributes);
    if (rc)
        return rc;
    rc = choose_stack(&attributes, number);
    if (!rc)
        rc = pthread_create(id, &attributes, run, argument);
    pthread_attr_destroy(&attributes);
    return rc;
}

/* -------------------------------------------------------- synchronisation */

void memory_barrier(const void *mine, void *all)
{
    if (space)
        check(ddsm_barrier_note(space, mine, all), "barrier");
}

bool memory_is_copied(void)
{
    return space && !ddsm_pages_are_shared(space);
}

void memory_interval(const uint64_t names[DDSM_NAMES])
{
    check(ddsm_interval_names(space, names), "prefetch");
}

void memory_release(void)
{
    if (space)
        check(ddsm_release(space), "flush");
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void memory_acquire(void)
{
    if (space)
        check(ddsm_acquire(space), "flush");
    else
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
    acquisitions++;
}

uint64_t memory_acquisitions(void)
{
    return acquisitions;
}

bool memory_is_shared(const void *p)
{
    return !space || is_shared(p);
}

void memory_lock(uint32_t *word)
{
    if (is_shared(word))
        check(ddsm_lock_at(space, word), "lock");
    else
        alone_lock(word);
    acquisitions++;
}

bool memory_try_lock(uint32_t *word)
{
    if (!is_shared(word))
        return alone_try_lock(word);
    int rc = ddsm_trylock_at(space, word);
    if (rc == DRAIL_EAGAIN)
        return false;
    check(rc, "lock");
    acquisitions++;
    return true;
}

void memory_unlock(uint32_t *word)
{
    if (is_shared(word))
        check(ddsm_unlock_at(space, word), "unlock");
    else
        alone_unlock(word);
}

void memory_lock_begin(uint32_t *word)
{
    if (is_shared(word))
        check(ddsm_lock_begin(space, word), "beginning a lock");
    else
        *word = 0;
}

void memory_lock_end(uint32_t *word)
{
    if (is_shared(word))
        check(ddsm_lock_end(space, word), "destroying a lock");
    else
        *word = 0;
}

uint64_t memory_atomic(ddsm_atomic_t op, void *word, size_t bytes,
                       uint64_t operand, uint64_t expected)
{
    uint64_t old;
    if (!is_shared(word))
        return alone_atomic(op, word, bytes, operand, expected);
    check(ddsm_atomic(space, op, word, bytes, operand, expected, &old),
          "atomic");
    return old;
}

void railomp_handles_signal(int number)
{
    if (number == SIGSEGV && memory_is_copied())
        fail(NOT_SERVED, "a handler of SIGSEGV is not served on several ranks: "
                         "the shared memory has one");
}

void railomp_protects(const void *start, size_t bytes)
{
    const char *first = start, *last = first + bytes - 1;
    if (bytes && memory_is_copied() && (is_shared(first) || is_shared(last)))
        fail(NOT_SERVED, "mprotect of shared memory is not served on several "
                         "ranks that copy pages: they are protected already");
}

/* ------------------------------------------------------------- statistics */

void memory_stats(ddsm_stats_t *stats)
{
    *stats = (ddsm_stats_t){0};
    if (space)
        ddsm_stats(space, stats);
}

size_t memory_page_bytes(void)
{
    return space ? ddsm_page_bytes(space) : 0;
}

const char *memory_kind(void)
{
    return !space ? "own" : ddsm_pages_are_shared(space) ? "shared" : "copied";
}

void memory_page_costs(void (*visit)(const ddsm_page_cost_t *cost,
                                     void *context),
                       void *context)
{
    if (space)
        ddsm_page_costs(space, visit, context);
}

void memory_sum(uint64_t *values, size_t count)
{
    if (space)
        check(ddsm_reduce(space, values, count, DDSM_INT64, DDSM_SUM),
              "statistics");
}

/* ------------------------------------------------------------------- heap */

void *memory_aligned_alloc(size_t alignment, size_t bytes)
{
    if (alignment < ALIGNMENT)
        alignment = ALIGNMENT;
    if (space)
        return ddsm_aligned_alloc(space, alignment, bytes);
    void *p = is_early ? early_malloc(alignment, bytes) : NULL;
    return p ? p : memalign(alignment, bytes);
}

void *memory_malloc(size_t bytes)
{
    return memory_aligned_alloc(ALIGNMENT, bytes);
}

void *memory_calloc(size_t bytes)
{
    if (space)
        return ddsm_calloc(space, 1, bytes);
    void *p = is_early ? early_malloc(ALIGNMENT, bytes) : NULL;
    return p ? p : calloc(1, bytes);
}

static bool is_of_heap(const void *p)
{
    return space && ddsm_heap_has(space, p);
}

void *memory_realloc(void *p, size_t bytes)
{
    if (!p)
        return memory_malloc(bytes);
    if (is_of_heap(p))
        return ddsm_realloc(space, p, bytes);
    if (!space && !early_has(p))
        return realloc(p, bytes);
    const size_t had = early_has(p) ? early_bytes(p) : malloc_usable_size(p);
    void *got = memory_malloc(bytes);
    if (got) {
        memcpy(got, p, had < bytes ? had : bytes);
        memory_free(p);
    }
    return got;
}

void memory_free(void *p)
{
    if (is_of_heap(p))
        ddsm_free(space, p);
    else if (!early_has(p))
        free(p);
}

/* ----------------------------------------------------------- system calls */

/* Stacks of this rank are never protected. */
static bool is_on_stack(const char *start, size_t bytes)
{
    const size_t at = (uintptr_t)start - (uintptr_t)stacks;
    return stacks && at < stacks_bytes() && bytes <= stacks_bytes() - at;
}

bool memory_may_go(const void *start, size_t bytes)
{
    return bytes && is_shared(start) && memory_is_copied() &&
           !is_on_stack(start, bytes);
}

/* Libraries call this, too: also the rails, within a call of libddsm, with what
 * lies on the stack. */
void memory_prepare(const void *start, size_t bytes, bool writable)
{
    /* an error shows in the system call */
    if (memory_may_go(start, bytes))
        ddsm_prefetch(space, start, bytes, writable);
}
