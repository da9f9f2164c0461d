/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * ddsm: software distributed shared memory over dapl_rail, as Cluster OpenMP
 * has below it (seed 004, sections 1 and 5): home-based lazy release
 * consistency with several writers of a page.
 *
 *  - All ranks see one space of pages. Each page has a home, the rank whose
 *    memory holds what all have written. Others keep copies: a fault of a read
 *    fetches the page from its home by an RDMA read over all rails, one of a
 *    write keeps a twin of it. What differs from the twin is written home by
 *    RDMA at the next barrier or unlock.
 *  - What a rank has written is seen by the others after they have met at a
 *    barrier, or have taken a lock after the rank gave that lock back, and so
 *    on from rank to rank (release consistency). Between that, two ranks may
 *    write different elements (ddsm_alloc) of one page; who reads or writes
 *    what another one writes meanwhile has a race, and finds the old or the
 *    new.
 *  - The memory is zero at first.
 *  - Calls return 0 or a negative DRAIL_E… code; ddsm_last_error() adds a
 *    sentence. A fault can't return one: see ddsm_config_t.failed.
 *  - Threads of a rank, those of an OpenMP region say, may read and write the
 *    memory at the same time, and take locks. Everything else is called by one
 *    thread of a rank while the others neither write the memory nor make calls.
 *  - System calls do not fault: to the kernel, a page that is not there, or is
 *    not writable, is no memory. Such a call fails with EFAULT, or ends early
 *    (a short count). These calls are safe:
 *      - calls that only read the memory (write, send, a path of open): after
 *        ddsm_prefetch() of the range;
 *      - calls that write it (read, recv, stat): after ddsm_prefetch() of the
 *        range as writable. At its home, too, a page must be made writable.
 *    That holds until the rank's next barrier, lock, unlock or reduction, and
 *    where the kernel has room for the mappings (see ddsm_prefetch()). If a
 *    call fails all the same, use a buffer of your own, and copy.
 *  - Nor do rails: what is put there by other means (memory registered with a
 *    drail_t or given to an MPI as a buffer that it pins) is no write of this
 *    rank's, and is lost. Such transfers go through memory of their own.
 *  - fork() leaves a child without the memory. A thread that blocks SIGSEGV is
 *    ended by its first fault.
 *  - A fault is served on the stack of the thread that has it, and waits for
 *    the thread that is in a call. Signals that come meanwhile wait until it is
 *    served, so their handlers may leave by siglongjmp; but a signal that ends
 *    or stops the process does so. A handler that runs during a call of this
 *    library must not touch the memory, nor leave by siglongjmp. A handler of
 *    stack overflows, on a stack of its own, is not called.
 */
#ifndef DDSM_H
#define DDSM_H

#include "dapl_rail/dapl_rail.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One rank's view of the shared memory. */
typedef struct ddsm ddsm_t;

typedef struct ddsm_config {
    size_t bytes;      /**< of the space, rounded up to pages; default 64 MiB.
                            Each rank keeps as much room for copies; what is
                            not touched takes no memory, but over verbs all of
                            it is pinned. A copy that is written has a twin
                            from then on, so it takes its memory twice. Of
                            2 MiB that lie together all take memory once a
                            quarter is used */
    size_t page_bytes; /**< a power of two and a multiple of the system's,
                            which is the default */
    void *base;        /**< where it is to lie on all ranks, at a multiple of
                            page_bytes, where nothing else is; NULL: rank 0
                            chooses. Pointers are valid on all ranks, then: see
                            ddsm_is_symmetric() */
    unsigned locks;    /**< default 64 */
    unsigned ahead;    /**< most pages that a fault fetches, or makes writable,
                            beyond its own when faults go upwards; default 255,
                            0: none. At their home, where writable pages count
                            as written, one for eight that were written */
    int wait_ms;       /**< how long a barrier, a reduction or a lock waits for
                            ranks that are alive; default -1: until they come,
                            one of them is gone, or the job is interrupted.
                            Time in which the process stands still, or all of
                            the machine does, does not count. Faults wait for
                            the timeout of the transport */
    unsigned serve_us; /**< where a rank must make calls for others to get at
                            its memory (drail_rail_info_t.is_polled, or no
                            atomics), a thread does so, so often; from 1 on,
                            default 50 */
    const drail_config_t *rails; /**< as of drail_open; NULL: the defaults.
                                      Team forkjoin becomes resident: faults in
                                      a parallel region find no more threads */
    /** Told of a fault that can't be served (a dead home, a time that ran out),
     *  in the thread that had it; of an OpenMP region several threads may call
     *  it at the same time. May leave by longjmp, within its thread and within
     *  the region; then all calls return that error, and ddsm_close is what is
     *  left to do. Otherwise, and if it is NULL, the sentence is written to
     *  standard error and the process ends with status 1. */
    void (*failed)(void *context, int code, const char *sentence);
    void *context; /**< its first argument */
} ddsm_config_t;

void ddsm_config_init(ddsm_config_t *cfg);

/**
 * Collective over all ranks of the job, with the same bytes, page_bytes, base,
 * locks. Opens rails of its own. The process has one handler of SIGSEGV for all
 * that is open; faults elsewhere go to the handler that was there before, or
 * end the process as ever.
 * @param job of all ranks; it must outlive the memory.
 * @param cfg NULL: the defaults. Copied.
 * @param out set on success only.
 * @param err may be NULL.
 * @return 0; DRAIL_EINVAL: a size or an address that is not a multiple of a
 * page, or an address where something else is, on any rank; DRAIL_ENOTSUP: the
 * rails can't serve it (ddsm_lock), nor do simulated ranks with
 * DRAIL_EXTENSIONS=0; what drail_open returned. An error of one rank is one of
 * all.
 */
int ddsm_open(drail_job_t *job, const ddsm_config_t *cfg, ddsm_t **out,
              drail_error_t *err);
/** Collective, also where the memory has failed: waits for the others, as they
 *  may yet fetch pages from here. The pages are gone then. Accepts NULL. */
void ddsm_close(ddsm_t *d);

/** The sentence that goes with the last failed call, of all threads. */
const char *ddsm_last_error(const ddsm_t *d);
unsigned ddsm_rank(const ddsm_t *d);
unsigned ddsm_size(const ddsm_t *d);
/** The transport, for the caller's own use, until ddsm_rails_give: to choose
 *  engine and policy, or for transfers. Meanwhile all else waits, as faults of
 *  other threads do. Its notifications are not the caller's. Who leaves it
 *  team forkjoin has no faults in parallel regions, which would fail. NULL:
 * this thread has taken it already, as all its calls say until it gives it
 * back. */
drail_t *ddsm_rails_take(ddsm_t *d);
void ddsm_rails_give(ddsm_t *d);
/** Does the memory lie at the same address on all ranks? Not where that was
 *  taken on one of them, or ranks are of one process (simulated ones). */
bool ddsm_is_symmetric(const ddsm_t *d);
void *ddsm_base(const ddsm_t *d);
size_t ddsm_bytes(const ddsm_t *d);
size_t ddsm_page_bytes(const ddsm_t *d);

/* ------------------------------------------------------------- memory --- */

/** Which rank is the home of a page. */
typedef enum ddsm_homes {
    DDSM_BLOCK,  /**< each rank of one piece, in the order of ranks: of arrays
                      whose parts ranks own */
    DDSM_CYCLIC, /**< page by page in turn */
    DDSM_ONE,    /**< all at one rank */
} ddsm_homes_t;

typedef struct ddsm_place {
    size_t element;     /**< bytes that are written by one rank only between
                             synchronisations: a power of two up to 64; 0
                             counts as 1, which is right for all programs. A
                             larger one makes fewer pieces: doubles of which
                             some bytes change are one of 8 bytes each */
    ddsm_homes_t homes; /**< default DDSM_BLOCK */
    unsigned rank;      /**< of DDSM_ONE */
} ddsm_place_t;

/** A piece of the space, of whole pages; all ranks call it in the same order
 *  with the same arguments. It is theirs until ddsm_close.
 *  @param d open.
 *  @param bytes at least 1.
 *  @param place NULL: all zero.
 *  @return NULL: an argument is wrong, or there is no room
 *  (ddsm_last_error). */
void *ddsm_alloc(ddsm_t *d, size_t bytes, const ddsm_place_t *place);

/** Makes a range readable (or writable: it is about to be written) at once, as
 *  faults would one by one: pages that lie together come in one RDMA read from
 *  each home, striped over the rails. Nothing of it need be used, but others'
 *  copies of writable pages whose home is here become old. They may have to
 *  fault again after synchronisations of other threads, or where the kernel has
 *  no room for one more mapping.
 *  @return DRAIL_EINVAL: not within what is allocated. */
int ddsm_prefetch(ddsm_t *d, const void *start, size_t bytes, bool writable);

/* ---------------------------------------------------- synchronisation --- */

/** Collective. What any rank has written before, all see after it. */
int ddsm_barrier(ddsm_t *d);
/**
 * One holder at a time of all threads of all ranks, in the order of their
 * asking; who holds it must not ask again. What has been written before unlock
 * is seen after the lock that follows it.
 * @param d open.
 * @param id below ddsm_config_t.locks.
 * @return DRAIL_ETIMEOUT: nobody has given it back in time (wait_ms); then
 * others go on without this rank, who may ask again, and as often as it likes:
 * it has its place in the queue again if its turn has not come meanwhile. Of
 * one lock, 16 threads of all ranks may have given up while who was before them
 * holds it; with one more the memory is broken, of which all hear.
 */
int ddsm_lock(ddsm_t *d, unsigned id);
/** @return DRAIL_EINVAL: no thread of this rank holds it. */
int ddsm_unlock(ddsm_t *d, unsigned id);

typedef enum ddsm_type { DDSM_INT64, DDSM_DOUBLE } ddsm_type_t;
typedef enum ddsm_op { DDSM_SUM, DDSM_MIN, DDSM_MAX } ddsm_op_t;
/** Collective: @p values of all ranks, element by element, to all; in the order
 *  of ranks, so that all have the same bits. 1 to 4096 elements. No barrier for
 *  the shared memory, which they are usually not in. */
int ddsm_reduce(ddsm_t *d, void *values, size_t count, ddsm_type_t type,
                ddsm_op_t op);

/** The rank's part of [begin, end): as equal blocks in the order of ranks, as
 *  DDSM_BLOCK has them, as schedule(static). */
void ddsm_part(const ddsm_t *d, size_t begin, size_t end, size_t *first,
               size_t *last);
/** A parallel loop: each rank runs @p body with its part, in which it may have
 *  an OpenMP region; then a barrier, whose result it returns. */
int ddsm_for(ddsm_t *d, size_t begin, size_t end,
             void (*body)(size_t first, size_t last, void *context),
             void *context);

/* --------------------------------------------------------- statistics --- */

/** Since ddsm_open, or the last ddsm_stats_reset. Times in nanoseconds of this
 *  rank's clock (of the machine's, also where ranks are simulated). */
typedef struct ddsm_stats {
    uint64_t read_faults, write_faults;
    uint64_t fetches;       /**< RDMA reads of pages */
    uint64_t fetched_pages; /**< ... and those that they brought */
    uint64_t twins;
    uint64_t diffs;       /**< pages compared with their twins */
    uint64_t pieces;      /**< RDMA writes of what differed */
    uint64_t diff_bytes;  /**< ... and their bytes */
    uint64_t invalidated; /**< copies that others have made old */
    uint64_t barriers, locks;
    uint64_t fault_ns;   /**< in faults, their fetches included */
    uint64_t flush_ns;   /**< comparing and writing home */
    uint64_t barrier_ns; /**< in barriers, their flush included */
    uint64_t lock_ns;    /**< waiting for locks */
} ddsm_stats_t;
/** Any thread, as ddsm_stats_reset; waits for one that is in a call, or has
 *  taken the rails. */
void ddsm_stats(const ddsm_t *d, ddsm_stats_t *stats);
void ddsm_stats_reset(ddsm_t *d);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
