/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * libddsm: software distributed shared memory over dapl_rail, as the runtime of
 * Cluster OpenMP has it below (Cai et al. 2009, sections 1 and 5). Protocol:
 * home-based lazy release consistency with multiple writers of a page.
 *
 * All ranks of a job see one range of pages, the space. Each page has a home:
 * the rank whose memory holds its valid contents. Other ranks keep copies. A
 * read of a missing page faults, and the fault handler fetches the page from
 * its home by RDMA. The first write of a copy faults, and the handler keeps a
 * twin. At the next barrier or unlock, or earlier, the rank writes what differs
 * from the twin to the home.
 *
 * Rules
 *
 *  R1 Visibility. Another rank sees a write after both have met in
 *     ddsm_barrier(), or after it takes a lock that the writer has unlocked
 *     since the write. The second way is transitive, also over several locks.
 *     ddsm_release() and ddsm_acquire() are a third way.
 *     Otherwise an access to an element that another rank writes meanwhile is a
 *     data race: it may find the old or the new contents.
 *  R2 Elements. Between synchronisations (R1) two ranks may write one page if
 *     they write different elements of it (ddsm_place_t.element).
 *  R3 Contents. The memory is zero at first.
 *  R4 Errors. A call returns 0 or a negative DRAIL_E… code; ddsm_last_error()
 *     has the sentence. A wrong argument (DRAIL_EINVAL), a full space and
 *     DRAIL_ETIMEOUT of ddsm_lock() change nothing; exceptions are stated at
 *     the call and at ddsm_config_t.serves_packs. Any other error breaks the
 *     memory: all further calls of this rank that can fail return that error,
 *     and only ddsm_close() is left to do. A rank that waits for others checks
 *     16 ranks each second, in turn; simulated ranks check only while they wait
 *     in ddsm_lock(). When it finds a broken one, its own memory is broken too.
 *     A fault cannot return an error: see ddsm_config_t.failed.
 *  R5 Threads. Threads of a rank may read and write the memory at the same
 *     time, and lock and unlock. Any other call must be made by one thread
 *     while no other thread of the rank writes the memory or makes a call.
 *     If another rule holds for a function, its description says so. Some
 *     functions return values that do not change after ddsm_open(). Any thread
 *     may call these at any time: ddsm_rank(), ddsm_size(), ddsm_part(),
 *     ddsm_base(), ddsm_bytes(), ddsm_page_bytes(), ddsm_is_symmetric() and
 *     ddsm_pages_are_shared().
 *  R6 System calls do not fault. They fail with EFAULT, or end early with a
 *     short count, where a page is missing or not writable. So first call
 *     ddsm_prefetch() for the buffer: with writable = false if the system call
 *     reads it (write, send, the path of open), with true if the system call
 *     writes it (read, recv, stat), also at the home of the pages. That holds
 *     until the rank's next barrier, lock, unlock, release, acquire or
 *     reduction, unless the kernel has no room for more mappings (see
 *     ddsm_prefetch()). If the call still fails, copy through a private buffer.
 *  R7 Other transfers. Do not register this memory with a drail_t, and do not
 *     give it to an MPI as a buffer: what they write here is lost. Copy through
 *     private memory.
 *  R8 fork(). A child has no part of the memory: an access to it is a SIGSEGV.
 *     It may exit, or call ddsm_close(), which does nothing there. It must make
 *     no other call.
 *  R9 Signals. A thread must not block SIGSEGV: its first fault would end the
 *     process. While a fault is served most signals wait (not where ranks are
 *     simulated), so their handlers may leave by siglongjmp(); a signal whose
 *     default action ends or stops the process still does so. A handler that
 *     runs during a call of this library must not touch the memory and must not
 *     leave by siglongjmp(). A fault runs on the stack of its thread, so a
 *     handler of stack overflows (on an alternate stack) is not called for it;
 *     see ddsm_config_t.alternate_stacks.
 */
#ifndef DDSM_H
#define DDSM_H

#include "dapl_rail/dapl_rail.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** One rank's handle of a space. */
typedef struct ddsm ddsm_t;

/** Where the ranks have the space's pages. */
typedef enum ddsm_pages {
    DDSM_PAGES_COPIED, /**< each rank has memory of its own, as described
                            above */
    DDSM_PAGES_SHARED, /**< if all ranks are on one host, they map the same
                            memory: no faults, no copies, and nothing is
                            written home. ddsm_place_t then only says whose
                            contents ddsm_adopt() takes, and system calls work
                            (R6). Otherwise, for simulated ranks, without
                            ddsm_is_symmetric(), and if a rank may not open
                            rank 0's memory, as DDSM_PAGES_COPIED; see
                            ddsm_pages_are_shared() */
} ddsm_pages_t;

/** Begin with ddsm_config_init(): 0 does not stand for a default. */
typedef struct ddsm_config {
    size_t bytes;      /**< of the space, rounded up to pages: 1 to 2^46, and
                            below 2^32 pages; default 64 MiB.
                            Memory is taken when pages are used: once for a page
                            at its home or a copy, twice for a copy that is
                            written. If a quarter of an aligned 2 MiB is used,
                            the kernel may take all of it. Over verbs the whole
                            space is pinned on each rank, and four times as
                            much, at most 64 MiB, for changes that travel
                            together */
    size_t page_bytes; /**< a power of two up to 1 GiB, and a multiple of the
                            system's page size, which is the default */
    void *base;        /**< the address of the space on all ranks: a multiple of
                            page_bytes, with nothing mapped there. NULL (the
                            default): rank 0 chooses, and ranks where that
                            range is taken use another; see
                            ddsm_is_symmetric() */
    ddsm_pages_t pages; /**< default DDSM_PAGES_COPIED */
    unsigned locks;     /**< number of locks: 1 to 2^20; default 64 */
    unsigned ahead;     /**< read-ahead: most pages that a fault takes along if
                             faults are on ascending pages, or on descending
                             ones; default 255, 0: none.
                             Write faults at the pages' home take along only one
                             page for eight that were written */
    int wait_ms;       /**< longest wait for other ranks in a barrier, a lock or
                            an acquire, or in a reduction, where more than 8
                            values wait twice. Time in which the process or the
                            machine stood still does not count. Negative
                            (default -1): no limit, until a rank is gone or the
                            job is interrupted. Faults and other transfers use
                            the transport's timeout instead */
    unsigned serve_us; /**< period of the progress thread, at least 1; default
                            50. It exists on rails that move data only while the
                            target is in a call (drail_rail_info_t.is_polled),
                            and on rails without atomics */
    bool serves_packs; /**< if all ranks set this and have a progress thread,
                            changes in many pieces travel together also at
                            locks, releases and acquires: the home's progress
                            thread carries them out. ddsm_rails_take() is
                            refused then, as a rank that lends its rails serves
                            nobody. If a home has not carried changes out after
                            wait_ms, the call (also ddsm_lock() and
                            ddsm_unlock()) returns DRAIL_ETIMEOUT, which breaks
                            the memory (R4). Default false: such changes travel
                            together in barriers only */
    bool alternate_stacks; /**< faults are served on the alternate stack of the
                                thread, if it has one; see ddsm_thread_begin().
                                The first space that is open in the process
                                decides. Default false */
    const drail_config_t *rails; /**< as of drail_open(); NULL: the defaults.
                                      Team forkjoin becomes resident, because a
                                      fault in a parallel region could start no
                                      threads */
    /** Called when a fault cannot be served: its home is gone or does not
     *  answer in time, the memory is broken already, or the thread has taken
     *  the rails. It runs in the thread that faulted; several threads may be in
     *  it at once. It may leave by longjmp within its thread and within its
     *  parallel region; the memory is broken then (R4). If it returns, or is
     *  NULL, the sentence goes to standard error and the process ends with
     *  status 1. */
    void (*failed)(void *context, int code, const char *sentence);
    void *context; /**< its first argument */
} ddsm_config_t;

/** Fills in the defaults. */
void ddsm_config_init(ddsm_config_t *cfg);

/**
 * Opens a space, with rails of its own; a process may have up to 1024 spaces.
 * Collective: all ranks of the job make this call and all other collective
 * calls, in the same order. bytes, page_bytes, base, pages and locks must be
 * equal. If
 * a rank fails, all ranks return an error; but a rank that passes NULL as
 * @p job or @p out returns DRAIL_EINVAL at once, without the others and without
 * a sentence.
 * Installs a handler of SIGSEGV for the process until its last space is closed;
 * faults elsewhere, also in pages that are not allocated, go to the handler
 * that was there before.
 * @param job must outlive the space.
 * @param cfg copied; NULL: the defaults.
 * @param out set on success only.
 * @param err gets the sentence of a failure; may be NULL.
 * @return 0; DRAIL_EINVAL: a wrong value, values that differ between ranks, or
 * a base where something is mapped; DRAIL_ENOTSUP: the rails cannot serve it
 * (their completions do not mean delivery), or ranks are simulated with
 * DRAIL_EXTENSIONS=0; DRAIL_ENOMEM: out of memory, or too many spaces; any
 * error of drail_open().
 */
int ddsm_open(drail_job_t *job, const ddsm_config_t *cfg, ddsm_t **out,
              drail_error_t *err);
/** Frees the space: no pointer into it is valid afterwards. Collective, also if
 *  the memory is broken: it waits for the other ranks, which may still fetch
 *  pages from here, until one is gone or the job is interrupted. Accepts
 *  NULL. */
void ddsm_close(ddsm_t *d);

/** The sentence of the last call that failed, in whichever thread; "" if none
 *  has. A later call or fault of any thread may change the text. */
const char *ddsm_last_error(const ddsm_t *d);
unsigned ddsm_rank(const ddsm_t *d);
unsigned ddsm_size(const ddsm_t *d);

/** Lends the transport to the calling thread until ddsm_rails_give(): to choose
 *  engine and policy, or for transfers of private memory. Meanwhile calls and
 *  faults of other threads wait. Calls of this thread that can fail do so, with
 *  DRAIL_EINVAL or NULL; ddsm_close() gives the transport back itself. A fault
 *  of this thread breaks the memory and calls ddsm_config_t.failed. The thread
 *  cannot be cancelled. Leave notifications alone: they are the library's. Do
 *  not set team forkjoin: faults in parallel regions would fail.
 *  @return NULL: this thread has it already, or ddsm_config_t.serves_packs is
 *          set. */
drail_t *ddsm_rails_take(ddsm_t *d);
/** Does nothing in a thread that has not taken it. */
void ddsm_rails_give(ddsm_t *d);

/** Whether the space has the same address on all ranks, so that pointers into
 *  it may be shared. False if that address was taken on some rank, or if ranks
 *  share a process (simulated ones). */
bool ddsm_is_symmetric(const ddsm_t *d);
/** Whether all ranks map the same memory (DDSM_PAGES_SHARED). */
bool ddsm_pages_are_shared(const ddsm_t *d);
void *ddsm_base(const ddsm_t *d);
size_t ddsm_bytes(const ddsm_t *d);
size_t ddsm_page_bytes(const ddsm_t *d);

/* ------------------------------------------------------------- memory --- */

/** How homes of pages are chosen. */
typedef enum ddsm_homes {
    DDSM_BLOCK,  /**< one piece for each rank, in the order of ranks, as
                      ddsm_part() divides */
    DDSM_CYCLIC, /**< page by page in turn, from rank 0 on */
    DDSM_ONE,    /**< all pages at one rank */
} ddsm_homes_t;

/** How a page is treated at its home. Ranks that have copies treat all kinds
 *  alike: the first write to a copy keeps a twin of the page, and the next
 *  synchronisation writes the bytes that differ from the twin home. */
typedef enum ddsm_kind {
    DDSM_FIXED,  /**< homes do not move. The home's first write after each
                      synchronisation faults */
    DDSM_MOVING, /**< if only one rank writes a page, a barrier makes that rank
                      its home: at first the next barrier, later one after more
                      intervals with writes, up to 64. A page that no other
                      rank has fetched stays writable at its home, without
                      faults */
    DDSM_OPEN,   /**< never protected at the home: no faults, and system calls
                      work there (R6). Other ranks drop their copies at each
                      barrier and whenever they acquire (ddsm_lock(),
                      ddsm_acquire()). The program may protect such pages at
                      their home, for example below a stack. The library passes
                      a fault there on to the program's handler of SIGSEGV, or
                      to the system */
} ddsm_kind_t;

typedef struct ddsm_place {
    size_t element;     /**< bytes of an element (R2): a power of two up to 64;
                            0 counts as 1, which is right for all programs. If
                            only whole doubles are written, 8 is faster */
    ddsm_homes_t homes; /**< default DDSM_BLOCK */
    unsigned rank;      /**< the home, with DDSM_ONE */
    ddsm_kind_t kind;   /**< default DDSM_FIXED */
} ddsm_place_t;

/** Allocates whole pages of the space; they stay until ddsm_close(). All ranks
 *  must call it in the same order with the same arguments. It does not wait for
 *  other ranks. A barrier fails on ranks that have made equally many calls with
 *  other arguments; it does not find that a call is missing on a rank.
 *  @param d open.
 *  @param bytes at least 1.
 *  @param place NULL: all zero.
 *  @return NULL: wrong argument, no room, or the memory is broken
 *  (ddsm_last_error()). */
void *ddsm_alloc(ddsm_t *d, size_t bytes, const ddsm_place_t *place);

/** Shares memory that the program has already, for example its global data, at
 *  the address where it is. The range uses up as many pages of the space as it
 *  is long. A space can adopt 15 ranges. Collective: returns when all ranks
 *  have called it. Meanwhile no other thread may use the range, and the
 *  caller's stack must not lie in it. The C library must not use the range: the
 *  program must have no copy relocations there (gcc's
 *  -mno-direct-extern-access). ddsm_close() makes the range private memory
 *  again. With DDSM_ONE, @p place's rank then has the whole contents. The
 *  others keep the copies that they had. The stack of the thread that calls
 *  ddsm_close() must not lie in the range.
 *  @param d open.
 *  @param start the same on all ranks, a multiple of the page.
 *  @param bytes a multiple of the page.
 *  @param place each page gets the contents that it has at its home. There the
 *  range must be mapped and readable.
 *  @return 0; DRAIL_EINVAL: wrong argument; DRAIL_ENOMEM: the space has not
 *  enough pages left, which changes nothing, or the kernel has no room for
 *  mappings, which breaks the memory (R4); otherwise as ddsm_barrier(). */
int ddsm_adopt(ddsm_t *d, void *start, size_t bytes, const ddsm_place_t *place);
/** Is @p address in memory that was allocated or adopted? Any thread may call
 *  it at any time. */
bool ddsm_has(const ddsm_t *d, const void *address);

/** Opens the space's heap in memory that was allocated or adopted and is zero.
 *  Rank 0 allocates from the first half, the other ranks from equal parts of
 *  the second. Collective, once.
 *  @param d open.
 *  @param start the same on all ranks.
 *  @param bytes at least 128 KiB for each rank. Whole 64 KiB are used.
 *  @return 0; DRAIL_EINVAL: wrong argument; DRAIL_ENOMEM; an error of the
 *  transport. All ranks get an error if one does, and then have no heap. */
int ddsm_heap_open(ddsm_t *d, void *start, size_t bytes);
/** As malloc(), calloc(), realloc(), aligned_alloc() and free(), from the heap.
 *  Any rank may use and free a block; any thread, at any time. A block that
 *  another rank has freed can be allocated again after both have synchronised
 *  (R1). ddsm_free() of a wrong pointer ends the process.
 *  @return NULL: no room in this rank's part; errno is ENOMEM. */
void *ddsm_malloc(ddsm_t *d, size_t bytes);
void *ddsm_calloc(ddsm_t *d, size_t count, size_t bytes);
void *ddsm_realloc(ddsm_t *d, void *p, size_t bytes);
void *ddsm_aligned_alloc(ddsm_t *d, size_t align, size_t bytes);
void ddsm_free(ddsm_t *d, void *p);
/** Bytes of a block, at least what was asked for. */
size_t ddsm_usable_bytes(ddsm_t *d, const void *p);
/** Is @p p in the heap? Any thread, at any time. */
bool ddsm_heap_has(const ddsm_t *d, const void *p);

/** Gives the calling thread an alternate stack (sigaltstack), on which its
 *  faults are served (ddsm_config_t.alternate_stacks). A thread must call it if
 *  its own stack lies in shared memory, unless this rank is the home of that
 *  memory and its kind is DDSM_OPEN, which is never protected.
 *  @return 0; DRAIL_ENOMEM. */
int ddsm_thread_begin(ddsm_t *d);
/** Takes the stack away again, before the thread ends. */
void ddsm_thread_end(ddsm_t *d);

/** Makes a range readable, or with @p writable also writable, as faults would
 *  do page by page. Adjacent pages of one home come in one RDMA read, striped
 *  over the rails. Pages whose home is here and that are made writable count as
 *  written, so other ranks fetch them again. Pages may fault again after any
 *  synchronisation of this rank, or if the kernel has no room for more mappings
 *  (vm.max_map_count), which is no error.
 *  @return 0; DRAIL_EINVAL: the range is not allocated; an error of the
 *  transport, which breaks the memory (R4). */
int ddsm_prefetch(ddsm_t *d, const void *start, size_t bytes, bool writable);

/* ---------------------------------------------------- synchronisation --- */

/** Collective: returns when all ranks have called it. All ranks then see all
 *  earlier writes.
 *  @return 0; DRAIL_ETIMEOUT (wait_ms), DRAIL_EPEER (a rank is gone),
 *  DRAIL_EINTR, or DRAIL_EINVAL (calls of ddsm_alloc() differed): each of them
 *  breaks the memory (R4). */
int ddsm_barrier(ddsm_t *d);
enum { DDSM_NOTE_BYTES = 64 };
/** A barrier that also gathers a note of each rank.
 *  @param d open.
 *  @param mine DDSM_NOTE_BYTES of private memory; NULL: any contents.
 *  @param all gets the notes in the order of ranks, on success; private memory,
 *  or NULL.
 *  @return as ddsm_barrier(). */
int ddsm_barrier_note(ddsm_t *d, const void *mine, void *all);

/** Names the intervals between barriers, from the next barrier on until another
 *  call. A name may stand for a loop of the program, for example. The library
 *  remembers which pages this rank's faults fetch and make writable in an
 *  interval. Right after the barrier that begins the next interval but one of
 *  that name, it does this for all of them, in few reads. (Many programs swap
 *  two arrays in each step, so every second interval uses the same pages.)
 *  If a name comes in each turn of a loop that has run before, the library goes
 *  by what that turn has used then. In the third interval of a name, if it has
 *  no others also in the fourth, and later in two of 32, the library learns
 *  anew which of these pages are used: there the first access to each page
 *  faults, but does not fetch. It learns about a turn in the turn's second
 *  interval, too. Different ranks may give different names.
 *  @param d open.
 *  @param name 0 (the default): no pages are fetched in advance. */
void ddsm_interval(ddsm_t *d, uint64_t name);
/** Gives a name to the interval that the last barrier has begun, and to no
 *  later one: for a program that learns the name in the barrier (for example
 *  by ddsm_barrier_note()). Call it right after the barrier.
 *  @return 0; an error of the transport, which breaks the memory (R4). */
int ddsm_interval_now(ddsm_t *d, uint64_t name);
/** The same with several names, from the most exact one to the least: for
 *  example of a turn of a loop, and of the loop. The library uses the first of
 *  them under which it remembers an interval, and remembers this one under all.
 *  @param names 0: left out. */
enum { DDSM_NAMES = 3 };
int ddsm_interval_names(ddsm_t *d, const uint64_t names[DDSM_NAMES]);

/**
 * Takes a lock, which one thread of one rank holds at a time, in the order of
 * requests. Not recursive: its holder must not take it again, because that call
 * waits for the holder to unlock it.
 * @param d open.
 * @param id below ddsm_config_t.locks.
 * @return 0; DRAIL_EINVAL: no such lock; DRAIL_ETIMEOUT: not obtained in
 * wait_ms. After a timeout the request is abandoned: other ranks go on, and the
 * rank may ask again at any time; it then gets its old place in the queue if
 * its turn has not passed. The queue of a lock has room for 16 abandoned
 * requests; one more breaks the memory (R4).
 */
int ddsm_lock(ddsm_t *d, unsigned id);
/** Writes home what this rank has written, and passes the lock on. Any thread
 *  of the rank that holds it may call it.
 *  @return 0; DRAIL_EINVAL: no such lock, or no thread of this rank holds
 *  it. */
int ddsm_unlock(ddsm_t *d, unsigned id);

/** Takes a lock only if nobody has it or waits for it.
 *  @return 0; DRAIL_EAGAIN: not obtained; DRAIL_EINVAL: no such lock. */
int ddsm_trylock(ddsm_t *d, unsigned id);

/** Locks by address: an aligned word of shared memory, 0 at first, stands for a
 *  lock. The first of these calls stores the number of a lock in the word. It
 *  is of the upper half of ddsm_config_t.locks, from (locks + 1) / 2 on; a
 *  program that calls these functions must not use that half itself. Otherwise
 *  as ddsm_lock(), ddsm_trylock() and ddsm_unlock().
 *  @return also DRAIL_ENOMEM: no number is left. */
int ddsm_lock_at(ddsm_t *d, uint32_t *word);
int ddsm_trylock_at(ddsm_t *d, uint32_t *word);
int ddsm_unlock_at(ddsm_t *d, uint32_t *word);
/** Makes @p word 0, before the first use of a lock. Call it if the memory may
 *  have had another lock that was not ended: ranks may still remember that
 *  lock's number. Other threads may use the word after they have synchronised
 *  with the caller (R1). */
int ddsm_lock_begin(ddsm_t *d, uint32_t *word);
/** Ends the lock of @p word, and makes the word 0. No thread may hold the lock
 *  then. Other threads may use the word again after they have synchronised with
 *  the caller (R1). */
int ddsm_lock_end(ddsm_t *d, uint32_t *word);

/** The two halves of a synchronisation without a lock. ddsm_release() writes
 *  this rank's changes home and announces them. ddsm_acquire() makes visible
 *  all that any rank has released by then. ddsm_flush() does both. Any thread
 *  may call them at any time, also while others use the memory.
 *  @return 0; DRAIL_ETIMEOUT (wait_ms): an acquire has waited for another
 *  rank's release, or a home has not carried changes out; DRAIL_EPEER,
 *  DRAIL_EINTR or another error of the transport. All errors break the memory
 *  (R4). */
int ddsm_release(ddsm_t *d);
int ddsm_acquire(ddsm_t *d);
int ddsm_flush(ddsm_t *d);

typedef enum ddsm_atomic {
    DDSM_LOAD,
    DDSM_STORE,
    DDSM_EXCHANGE,
    DDSM_COMPARE_SWAP,
    DDSM_ADD,
    DDSM_AND,
    DDSM_OR,
    DDSM_XOR,
} ddsm_atomic_t;
/** An atomic operation, carried out at the word's home. All of them are
 *  sequentially consistent with each other. They order no other accesses: for
 *  that, call ddsm_release() before or ddsm_acquire() after. Plain reads of
 *  this rank see the result at once; those of other ranks see it as they see a
 *  plain write (R1). Over verbs, the home must not write to the same aligned 8
 *  bytes meanwhile: such a write may be lost. Any thread may call it at any
 *  time.
 *  @param d open.
 *  @param op what to do.
 *  @param word in allocated memory whose elements (R2) are not longer than
 *  @p bytes; a multiple of @p bytes.
 *  @param bytes 1, 2, 4 or 8; what is above them in values is ignored.
 *  @param operand of all operations but DDSM_LOAD.
 *  @param expected with DDSM_COMPARE_SWAP: @p operand is stored if the word
 *  has this value.
 *  @param old set to the value before; may be NULL.
 *  @return 0; DRAIL_EINVAL: wrong argument; an error of the transport, which
 *  breaks the memory (R4). */
int ddsm_atomic(ddsm_t *d, ddsm_atomic_t op, void *word, size_t bytes,
                uint64_t operand, uint64_t expected, uint64_t *old);

typedef enum ddsm_type { DDSM_INT64, DDSM_DOUBLE } ddsm_type_t;
typedef enum ddsm_op { DDSM_SUM, DDSM_MIN, DDSM_MAX } ddsm_op_t;
/** Collective: combines @p values of all ranks element by element, in the order
 *  of ranks, so that all ranks get the same bits. No barrier: it makes no
 *  writes of the shared memory visible. There are 0 to 4096 values, of 8 bytes
 *  each; on success the result replaces them. Without values it does not wait,
 *  and @p values may be NULL. @p count, @p type and @p op must be the same on
 *  all ranks: this is not checked.
 *  @return 0; DRAIL_EINVAL: wrong argument; otherwise as ddsm_barrier(). */
int ddsm_reduce(ddsm_t *d, void *values, size_t count, ddsm_type_t type,
                ddsm_op_t op);

/** This rank's part [*first, *last) of [begin, end): one block for each rank,
 *  in the order of ranks. Lengths differ by 1 at most. Which ranks have the
 *  longer blocks may differ from OpenMP's schedule(static). If @p end is not
 *  above @p begin, all parts are empty. */
void ddsm_part(const ddsm_t *d, size_t begin, size_t end, size_t *first,
               size_t *last);
/** A parallel loop: runs @p body with this rank's part, unless that is empty;
 *  then a barrier, whose result it returns. If the memory is broken already,
 *  @p body does not run. It may have an OpenMP region.
 *  @return as ddsm_barrier(); DRAIL_EINVAL: no @p body. */
int ddsm_for(ddsm_t *d, size_t begin, size_t end,
             void (*body)(size_t first, size_t last, void *context),
             void *context);

/* --------------------------------------------------------- statistics --- */

/** Of this rank, since ddsm_open() or the last ddsm_stats_reset(). Barriers and
 *  locks are calls, also those that failed. Times in nanoseconds of the
 *  machine's clock, also where ranks are simulated. */
typedef struct ddsm_stats {
    uint64_t read_faults, write_faults;
    uint64_t fetches;       /**< RDMA reads of pages */
    uint64_t fetched_pages; /**< pages in these reads */
    uint64_t twins;
    uint64_t diffs;         /**< pages compared with their twins */
    uint64_t pieces;        /**< RDMA writes of pieces that differed */
    uint64_t diff_bytes;    /**< bytes of these pieces */
    uint64_t packed_bytes;  /**< of changes in many pieces, which travel
                                 together in a barrier */
    uint64_t invalidated;   /**< copies that other ranks' writes made old */
    uint64_t shared_writes; /**< pages that another rank, too, has written
                                 between the same two barriers */
    uint64_t barriers, locks;
    uint64_t fault_ns;   /**< in faults, their fetches included */
    uint64_t ahead_ns;   /**< in fetching in advance: ddsm_prefetch(), and what
                              intervals of a name begin with */
    uint64_t flush_ns;   /**< comparing pages and writing pieces home */
    uint64_t barrier_ns; /**< in barriers, their flush included */
    uint64_t lock_ns;    /**< in ddsm_lock() and ddsm_trylock(), fetching in
                              advance included */
    /* pages, in intervals in which the library learns (ddsm_interval()), and
     * while a lock is held: in its own tests */
    uint64_t predicted;      /**< pages that were fetched in advance */
    uint64_t predicted_used; /**< those of them that were used */
    uint64_t unpredicted;    /**< pages that faults fetched */
} ddsm_stats_t;
/** Any thread may call these two at any time; they wait for another thread that
 *  is in a call or has taken the rails. */
void ddsm_stats(const ddsm_t *d, ddsm_stats_t *stats);
void ddsm_stats_reset(ddsm_t *d);

/** How well pages were foreseen, in per cent: how many of those that were
 *  fetched in advance were used (efficiency), and how many of those that were
 *  used had been fetched in advance (coverage). NaN: nothing is known. */
double ddsm_efficiency(const ddsm_stats_t *stats);
double ddsm_coverage(const ddsm_stats_t *stats);

/** What a page has cost this rank since ddsm_open() or ddsm_stats_reset(). */
typedef struct ddsm_page_cost {
    void *start;
    unsigned home;
    uint32_t read_faults, write_faults, fetches, diffs, invalidated;
    bool shared_writes; /**< another rank has written the page between the same
                             two barriers as this one */
} ddsm_page_cost_t;
/** Calls @p visit for each page that has cost something, in the order of
 *  allocation. @p visit must make no call that waits for other ranks. */
void ddsm_page_costs(ddsm_t *d,
                     void (*visit)(const ddsm_page_cost_t *cost, void *context),
                     void *context);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
