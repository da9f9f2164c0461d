/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank keeps of the shared memory. */
#ifndef DSM_BASE_SPACE_H
#define DSM_BASE_SPACE_H

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "coll/dcoll.h"
#include "dsm/ddsm.h"

enum page_state {
    PAGE_UNUSED,  /* of no ddsm_alloc; a fault there is the program's */
    PAGE_INVALID, /* others have written it, or (at its home, too) it is only
                     protected, see relief.h: PROT_NONE */
    PAGE_CLEAN,   /* PROT_READ */
    PAGE_DIRTY,   /* written since the last flush: PROT_READ | PROT_WRITE */
};

struct page {
    uint16_t home;
    uint8_t state;
    uint8_t element_shift; /* logarithm of ddsm_place_t.element */
    bool noticed;          /* unused, and others have written it */
    bool written;          /* is in the list of what is to be announced */
    bool used;             /* has been fetched or written */
};

/* Some pages, in the order in which they came. Room for all. */
struct page_list {
    uint32_t *page;
    size_t count;
};

/* Faults that go upwards, of one thread or loop: from which page on, which one
 * would be the next, and how many are taken beyond it. */
enum { STREAMS = 16 };
struct streams {
    struct ahead {
        size_t first, next;
        unsigned pages;
    } of[STREAMS];
    unsigned oldest;
};

/* What a rank has written, one range of pages after another: a ring in its
 * control memory, which others read. Positions count all that ever were. */
struct range {
    uint32_t first, count;
};
enum { LOG_RANGES = 4096 };
struct notice_log {
    /* what is being written, or is, ends here: who has read older ranges than
     * the ring holds then has read nothing */
    _Atomic uint64_t reserved;
    struct range range[LOG_RANGES];
};

/* What a rank brings to a barrier: the end of its log. */
enum { BARRIER_RANGES = 30 };
struct arrival {
    uint64_t allocs, shape; /* how many pieces there are, and which */
    uint64_t head;
    uint64_t count;
    struct range last[BARRIER_RANGES];
};

/* A reduction of so many values needs no agreement about its memory. */
enum { REDUCE_INLINE_BYTES = 64 };

/* So many may have left a lock's queue while others are before them. */
enum { TICKET_ABANDONED_MAX = 16 };

/* In registered memory, on each rank alike: the log, then locks, each with its
 * word, clock and who has left (ticket.c), then what only this rank uses. */
struct control {
    char *start;
    drail_mem_t *mem;
    drail_key_t *keys; /* of all ranks */
    struct notice_log *log;
    size_t locks_offset, lock_bytes, broken_offset;
    _Atomic uint64_t *broken; /* the rank's memory is broken: others look */
    size_t ticket_rounds_offset;
    _Atomic uint64_t
        *ticket_rounds; /* some lock's tickets went half round: add 1 */
    /* of this rank: */
    struct arrival *arrival, *arrivals;
    char *reduce_in,
        *reduce_out;     /* of a reduction: own values, and the result */
    uint64_t *probe;     /* targets of reads: of all ranks' given_up, */
    uint64_t *word;      /* of a lock's word, */
    uint64_t *clock;     /* its clock, */
    uint64_t *abandoned; /* who has left its queue, */
    uint64_t *reserved;  /* and of another's log */
    struct range *range;
};

struct ddsm {
    ddsm_config_t cfg;
    drail_job_t *job;
    drail_t *t;
    dcoll_team_t *team;
    dcoll_request_t *barrier_request;   /* all-gather of arrivals, */
    dcoll_request_t *reduce_request;    /* all-reduce of values, by … */
    const dcoll_reduction_t *operation; /* … this */
    unsigned rank, size;

    /* Two mappings of the same pages: what the program sees, protected, and
     * what the rails read and write. */
    char *view, *store;
    size_t bytes;
    unsigned page_shift;
    int fd;
    bool symmetric;
    drail_mem_t *store_mem;
    drail_key_t *store_keys;
    char *twins; /* of each page, in its place */

    struct page *page;
    size_t pages, used;
    uint16_t *huge;         /* pages of each piece that were used (huge.c) */
    uint64_t allocs, shape; /* of the pieces: a sum over their arguments */
    struct page_list dirty, written;
    struct streams reads, writes;

    struct control control;
    uint64_t log_end;       /* of the own log */
    uint64_t *vector_clock; /* of the logs of all ranks: the vector clock */
    bool *unfenced;         /* homes that something was put to */
    uint64_t clock_version; /* how often seen has changed */
    struct held {
        bool is_held;
        uint32_t ticket; /* of now, or of the last time */
        bool was_held;
        uint64_t rounds;    /* control.ticket_rounds, when it was given back */
        bool has_abandoned; /* its queue, and tickets may still be there */
        uint64_t clock_version; /* space.learnt, as the lock's clock has it */
    } * held;                   /* locks */

    /* Protects all of this but the members from cfg to twins (enter.h). Faults
     * take it: the view is never touched with it held. */
    pthread_mutex_t mutex;
    _Atomic uintptr_t holder; /* the thread that has it */
    int cancel;               /* ... and how it may be cancelled outside */
    bool guard_nested;
    bool faults; /* in it, the holder has blocked signals (signals.h) */
    pthread_t progress_thread;
    bool has_progress_thread;
    _Atomic bool closing;
    int broken;                 /* the error that all calls return */
    unsigned probed;            /* whom to look after next */
    char *unfinished_reduction; /* memory of a reduction that has not ended */
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

/* Sets the sentence and returns @rc. */
__attribute__((format(printf, 3, 4))) int space_fail(ddsm_t *d, int rc,
                                                     const char *format, ...);
/* The same with the transport's sentence. */
int space_fail_rails(ddsm_t *d, int rc, const char *what);
/* ... after which nothing can go on. */
int space_break_rails(ddsm_t *d, int rc, const char *what);
/* So is this error, whose sentence is set. Others are told. */
int space_break(ddsm_t *d, int rc);

#endif
