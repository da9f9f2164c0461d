/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's state of a space. Read the other folders in this order:
 *
 *   base/   this state; entering it, one thread at a time; errors
 *   pages/  map (addresses), pages (states and protection), fetch, flush and
 *           diff (writing home), handler, fault and signals, huge, coalesce
 *   sync/   control (memory that other ranks read), notices, ticket, peer_wait
 *   .       the public calls, and the progress thread
 */
#ifndef DSM_BASE_SPACE_H
#define DSM_BASE_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "coll/dcoll.h"
#include "dsm/ddsm.h"

enum page_state {
    PAGE_UNUSED,  /* not allocated; a fault there is the program's */
    PAGE_INVALID, /* PROT_NONE: an old copy, or one that was only protected to
                     save mappings, also at its home (coalesce.h) */
    PAGE_CLEAN,   /* PROT_READ */
    PAGE_DIRTY,   /* written since the last flush: PROT_READ | PROT_WRITE */
};

struct page {
    uint16_t home;
    uint8_t state;
    uint8_t element_shift; /* logarithm of ddsm_place_t.element */
    bool noticed;          /* not allocated here, but written by another rank */
    bool written;          /* is in ddsm.written */
    bool used;             /* has been fetched or written */
};

/* Numbers of pages, in the order of entry; has room for all pages. */
struct page_list {
    uint32_t *page;
    size_t count;
};

/* Read-ahead: sequences of faults on ascending pages. `first` began the
 * sequence, `next` would continue it, and `pages` are taken along with that. */
enum { STREAMS = 16 };
struct streams {
    struct ahead {
        size_t first, next;
        unsigned pages;
    } of[STREAMS];
    unsigned oldest;
};

/* Write notices of a rank: the ranges of pages that it has written, in a ring
 * of its control memory, which other ranks read. Positions count from the
 * first range ever. */
struct range {
    uint32_t first, count;
};
enum { LOG_RANGES = 4096 };
struct notice_log {
    /* End of what has been written, or is being written. A reader that finds
     * the ring to have overtaken its ranges discards them. */
    _Atomic uint64_t reserved;
    struct range range[LOG_RANGES];
};

/* A rank's message in a barrier: the end of its log. */
enum { BARRIER_RANGES = 30 };
struct arrival {
    uint64_t allocs, shape; /* number of ddsm_alloc calls, a hash of them */
    uint64_t head;          /* position of the end of the log */
    uint64_t count;
    struct range last[BARRIER_RANGES];
};

/* A reduction of so many bytes uses a request that ddsm_open has prepared. */
enum { REDUCE_INLINE_BYTES = 64 };

/* Slots of a lock for abandoned tickets (ticket.c). */
enum { TICKET_ABANDONED_MAX = 16 };

/* Registered memory with the same layout on all ranks: the log; the locks whose
 * home is here, each with its word, its clock and its slots of abandoned
 * tickets (ticket.c); and buffers that only this rank uses. */
struct control {
    char *start;
    drail_mem_t *mem;
    drail_key_t *keys; /* of all ranks */
    struct notice_log *log;
    size_t locks_offset, lock_bytes, broken_offset;
    _Atomic uint64_t *broken; /* 1: this rank's memory is broken */
    size_t ticket_rounds_offset;
    /* other ranks add 1 whenever a lock's ticket numbers pass half of their
     * range (lock.c) */
    _Atomic uint64_t *ticket_rounds;
    /* only this rank uses these: */
    struct arrival *arrival, *arrivals;
    char *reduce_in, *reduce_out;
    /* buffers of RDMA reads: */
    uint64_t *probe;     /* `broken` of each rank */
    uint64_t *word;      /* a lock's word, */
    uint64_t *clock;     /* its clock, */
    uint64_t *abandoned; /* and its slots */
    uint64_t *reserved;  /* another rank's log */
    struct range *range;
};

struct ddsm {
    ddsm_config_t cfg;
    drail_job_t *job;
    drail_t *t;
    dcoll_team_t *team;
    dcoll_request_t *barrier_request;   /* all-gather of arrivals */
    dcoll_request_t *reduce_request;    /* all-reduce, by the … */
    const dcoll_reduction_t *operation; /* … current operation */
    unsigned rank, size;
    pid_t process; /* that opened it: not one that is forked later */

    /* Two mappings of the same memory: the view, which the program uses and
     * whose pages are protected, and the store, which the rails use. */
    char *view, *store;
    size_t bytes;
    unsigned page_shift;
    int fd;
    bool symmetric;
    drail_mem_t *store_mem;
    drail_key_t *store_keys;
    char *twins; /* as large as the space; a twin lies where its page does */

    struct page *page;
    size_t pages, used;
    uint16_t *huge;         /* used pages of each 2 MiB block (huge.c) */
    uint64_t allocs, shape; /* ddsm_alloc calls: number, and a hash */
    struct page_list dirty, written;
    struct streams reads, writes;

    struct control control;
    uint64_t log_end;       /* of this rank's log */
    uint64_t *vector_clock; /* how much of each rank's log is known here */
    bool *unfenced;         /* homes with puts since the last fence */
    uint64_t clock_version; /* counts changes of vector_clock */
    struct held {
        bool is_held;
        uint32_t ticket; /* of now, or of the last time held */
        bool was_held;
        uint64_t rounds;        /* control.ticket_rounds at the unlock */
        bool has_abandoned;     /* a ticket of this rank may be in a slot */
        uint64_t clock_version; /* ddsm.clock_version that its clock has */
    } * held;                   /* one for each lock */

    /* Protects all members but those from cfg to twins (enter.h). A fault takes
     * it too, so nothing here touches the view while it is held. */
    pthread_mutex_t mutex;
    _Atomic uintptr_t holder; /* the thread that is inside */
    int cancel;               /* its cancel state outside */
    bool guard_nested;        /* its thread was inside before (enter.c) */
    bool faults; /* it serves a fault, with signals blocked (signals.h) */
    pthread_t progress_thread;
    bool has_progress_thread;
    _Atomic bool closing;
    int broken;                 /* the error that all calls return, or 0 */
    unsigned probed;            /* the rank to probe next */
    char *unfinished_reduction; /* memory that a failed reduction may still
                                   write to */
    drail_error_t error;
    ddsm_stats_t stats;
};

static inline size_t page_bytes(const ddsm_t *d)
{
    return (size_t)1 << d->page_shift;
}

static inline char *page_view(const ddsm_t *d, size_t page)
{
    return d->view + (page << d->page_shift);
}

static inline uint64_t space_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Sets the sentence of a failure; returns @rc. */
__attribute__((format(printf, 3, 4))) int space_fail(ddsm_t *d, int rc,
                                                     const char *format, ...);
/* The same, with the transport's sentence behind @what. */
int space_fail_rails(ddsm_t *d, int rc, const char *what);
/* The same, and breaks the memory, unless it is broken: then that error. */
int space_break_rails(ddsm_t *d, int rc, const char *what);
/* Breaks the memory: all later calls return @rc, whose sentence is set. Other
 * ranks see it when they probe this one. */
int space_break(ddsm_t *d, int rc);

#endif
