/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's state of a space. Read the other folders in this order:
 *
 *   base/   this state; entering it, one thread at a time; errors
 *   pages/  map (addresses), page_list, pages (states and protection),
 *           readahead, fetch, flush, diff, hot and pack (writing home),
 *           handler, fault and signals, huge, coalesce, exclusive, history,
 *           lock_history
 *   sync/   control (memory that other ranks read), notices, pack_server,
 *           peer_wait, pack_exchange, shared_barrier, ticket
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
    uint8_t kind;          /* ddsm_kind_t */
    bool held;             /* if invalid, its contents are here all the same
                              (history.h, pack.h) */
    uint8_t recorded;      /* bits of the lists ddsm.recorded that it is in */
    bool visited;          /* is in ddsm.visits */
    bool noticed;          /* not allocated here, but written by another rank */
    bool written;          /* is in ddsm.written */
    bool packed;           /* its changes are in this rank's pack (pack.h) */
    bool used;             /* has been fetched or written */
    bool stayed;           /* a release has left it writable */
    bool scattered;        /* has changed in many pieces in this interval */
    uint8_t hot;     /* so many more releases without a change will (hot.h) */
    bool exclusive;  /* DDSM_MOVING: no other rank has a copy (claims.h) */
    uint8_t writes;  /* intervals with plain writes of this rank, … */
    uint8_t changes; /* … changes of its home or of exclusiveness, and claims
                        of this rank that others contested */
    uint32_t written_in; /* the interval of this rank's last write, from 1 on */
    uint32_t counted_in; /* that of the last one in `writes` */
};

/* What a page has cost this rank; see ddsm_page_cost_t. */
struct page_cost {
    uint32_t read_faults, write_faults, fetches, diffs, invalidated;
    bool shared_writes;
};

/* Pages that ddsm_adopt() has mapped elsewhere than at ddsm.view. */
enum { SEGMENTS = 15 };
struct segment {
    size_t first, count;
    char *view;
    unsigned rank; /* its contents are kept after ddsm_close() */
};

/* Numbers of pages, in the order of entry; has room for all pages. */
struct page_list {
    uint32_t *page;
    size_t count;
};

/* What faults have fetched, and made writable, in the last intervals of one
 * name (history.h). */
enum { PASTS = 4096, NAMES = 1 + DDSM_NAMES }; /* the turn's comes first */
enum use { USE_FETCH, USE_WRITE, USES };
struct past {
    uint64_t name;
    unsigned times;
    bool is_good;    /* at the last test most pages were used, and foretold */
    bool is_assumed; /* what a less exact name has foretold is in it */
    unsigned pause, pauses; /* intervals without a history; so many times */
    uint32_t last;          /* interval of that name; … */
    uint32_t gap;           /* … least intervals between two; 0: unknown */
    unsigned turn;          /* of a loop that has the name in each turn */
    struct page_list list[2][USES]; /* of every second interval */
};

/* What faults have fetched while this rank held a lock (lock_history.h). */
struct lock_past {
    struct page_list list;  /* has no room for all pages */
    unsigned times;         /* that it was fetched in advance */
    unsigned pause, pauses; /* times without a history; so many times */
};

/* The most that a release compares and leaves writable. */
enum { HOT_PAGES = 32 };

/* Read-ahead (readahead.h): sequences of faults on ascending or descending
 * pages. A loop over planes of an array has a sequence in each plane. */
enum { STREAMS = 256 };
struct streams {
    struct ahead {
        size_t next, before; /* pages that would continue it; PAGE_NONE */
        size_t passed;       /* pages until now */
        unsigned pages;      /* taken along the last time */
        bool descends;
    } of[STREAMS];
    unsigned count; /* of those that have begun in this interval */
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
    /* those begun, and those ended: odd while a release is under way. Another
     * rank reads it before `end` */
    _Atomic uint64_t releases;
    _Atomic uint64_t end; /* of what has been written */
    struct range range[LOG_RANGES];
};

/* A rank's message in a barrier. Its length counts in every barrier, so claims
 * (claims.h) and the caller's note leave less room for ranges of the log. */
enum {
    ARRIVAL_RANGES = 30,
    CLAIM_RANGES = 16,
    NOTE_RANGES = DDSM_NOTE_BYTES / sizeof(struct range)
};
struct arrival {
    uint64_t allocs, shape; /* number of ddsm_alloc calls, a hash of them */
    uint64_t head;          /* position of the end of the log */
    uint64_t packed_from;   /* the same before this barrier, if this rank has a
                               pack (pack.h), or UINT64_MAX */
    uint32_t claims, count;
    /* the claimed pages; then the last `count` ranges of the log; a note takes
     * the place of the last NOTE_RANGES */
    struct range range[ARRIVAL_RANGES];
};

/* What a rank's pack (pack.h) has for a home. */
struct pack_part {
    uint64_t offset, bytes; /* from the begin of the pack */
};

/* A reduction of so many bytes uses a request that ddsm_open has prepared. */
enum { REDUCE_INLINE_BYTES = 64 };

enum { LOCK_NAMES = 256 };

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
    /* a byte for each page of the space: 1 if another rank has fetched it since
     * this rank, its home, looked last (exclusive.h); and one for each
     * COPIED_BLOCK pages, to look at first */
    char *copied, *copied_blocks;
    size_t copied_offset, copied_blocks_offset;
    _Atomic uint64_t *broken; /* 1: this rank's memory is broken */
    size_t ticket_rounds_offset, lock_ends_offset, lock_numbers_offset;
    /* other ranks add 1 whenever a lock's ticket numbers pass half of their
     * range (lock.c) */
    _Atomic uint64_t *ticket_rounds;
    /* ... and whenever a word no longer stands for a lock (lock_at.c) */
    _Atomic uint64_t *lock_ends;
    /* each rank's last pack for servers (pack_server.h); and the last one of
     * this rank that each home has served */
    _Atomic uint64_t *packs_asked, *packs_done;
    size_t packs_asked_offset, packs_done_offset;
    /* only this rank uses these: */
    struct arrival *arrival, *arrivals;
    char *reduce_in, *reduce_out;
    struct pack_part *pack_parts; /* of this rank's pack, for each home */
    char *pack;                   /* pack_room bytes */
    size_t pack_room, pack_parts_offset, pack_offset;
    /* Sources of control_post(), a place for each rank: if a rail breaks, the
     * transport may read and send them again long after. */
    uint64_t *pack_numbers; /* of this rank's last request to each home, */
    uint64_t *packs_served; /* and of each rank's that was served here */
    /* buffers of RDMA reads: */
    struct pack_part *read_part; /* of another rank's pack, */
    char *read_pack;             /* and that part; pack_room bytes */
    uint64_t *probe;             /* `broken` of each rank */
    uint64_t *word;              /* a lock's word, */
    uint64_t *clock;             /* its clock, */
    uint64_t *abandoned;         /* and its slots */
    uint64_t *reserved;          /* another rank's log */
    uint64_t *end;               /* its releases, and its end, */
    uint64_t *ends;              /* ends of all ranks' logs */
    char *ones; /* COPIED_ONES bytes of 1, to put to `copied` */
    struct range *range;
};

struct ddsm {
    ddsm_config_t cfg;
    drail_job_t *job;
    drail_t *t;
    dcoll_team_t *team;
    dcoll_request_t *barrier_request;   /* all-gather of arrivals */
    dcoll_request_t *meet_request;      /* barrier */
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
    bool is_shared; /* all ranks map the same memory (one_host.h); then … */
    struct shared_arrival *shared_arrivals; /* (shared_barrier.c) */
    uint64_t shared_barriers;               /* until now */
    drail_mem_t *store_mem;
    drail_key_t *store_keys;
    char *twins; /* as large as the space; a twin lies where its page does;
                    NULL: is_shared */

    struct segment segment[SEGMENTS];
    _Atomic unsigned segments;
    struct page *page;
    struct page_cost *cost; /* of each page */
    uint32_t interval;      /* barriers until now, and 1 */
    size_t pages, used;
    uint16_t *huge;         /* used pages of each 2 MiB block (huge.c) */
    uint64_t allocs, shape; /* ddsm_alloc calls: number, and a hash */
    bool settling;          /* in a barrier: its claims are not settled yet */
    size_t moving_first, moving_end; /* all DDSM_MOVING pages are in between */
    struct page_list dirty;
    struct page_list written; /* for the next notices */
    struct page_list changed; /* since the last barrier, for claims */
    uint32_t hot[HOT_PAGES]; /* dirty pages that this release leaves writable */
    size_t hot_count;
    uint32_t *grouped;  /* dirty pages by home (pack.c); of each home: */
    size_t *group;      /* its first one, and behind the last home the end */
    bool has_pack;      /* flush_and_pack() has packed changes */
    bool homes_serve;   /* all ranks serve packs outside barriers, too */
    bool reduces_long;  /* a thread is in a reduction that is prepared */
    uint64_t next_name; /* of the interval after the next barrier */
    struct past (*pasts)[PASTS]; /* for each name of an interval */
    size_t remembered;           /* pages in all their lists */
    /* of this interval, for each of its names: */
    struct past *named[NAMES];     /* NULL: no such name, or a pause */
    struct page_list *into[NAMES]; /* its lists now, by use */
    unsigned foretold_by;          /* the name that had a past */
    /* Times that new names have learnt by faults, less twice those in which
     * such a name has come back. */
    unsigned learnt[NAMES];
    bool is_named;
    bool learning; /* pages that are fetched in advance are held */
    bool tests;    /* ... to find whether the past is right */
    struct page_list recorded[USES]; /* for this interval's past */
    struct page_list visits;         /* copies of DDSM_OPEN pages */
    struct lock_past *under; /* of the lock that this rank last took from
                                another one, until it gives it back or an
                                interval begins; NULL: none, or a pause */
    struct page_list under_recorded; /* for its list */
    bool under_tests; /* to find whether it is right: pages held, and used */
    size_t under_foretold, under_used;
    size_t under_remembered; /* pages in the lists of all locks */
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
        struct lock_past past;
    } * held; /* one for each lock */

    struct lock_numbers {
        uint32_t *number; /* left over */
        size_t count, room;
    } lock_numbers;
    /* Words that this rank has locked, by a hash of their addresses. A word may
     * lie in a page that other ranks write all the time. */
    struct lock_name {
        const uint32_t *word;
        uint32_t number;
    } lock_names[LOCK_NAMES];
    uint64_t lock_ends; /* control.lock_ends when they were forgotten last */
    bool lock_ended;    /* other ranks are to be told so (flush.c) */
    struct heap *heap;

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

/* The segment of a page; NULL: it lies in ddsm.view. */
static inline const struct segment *page_segment(const ddsm_t *d, size_t page)
{
    const unsigned n = atomic_load_explicit(&d->segments, memory_order_acquire);
    for (unsigned i = 0; i < n; i++)
        if (page - d->segment[i].first < d->segment[i].count)
            return &d->segment[i];
    return NULL;
}

static inline char *page_view(const ddsm_t *d, size_t page)
{
    const struct segment *s = page_segment(d, page);
    return s ? s->view + ((page - s->first) << d->page_shift)
             : d->view + (page << d->page_shift);
}

/* The page at an address; PAGE_NONE: not of this space. */
#define PAGE_NONE SIZE_MAX
static inline size_t page_at(const ddsm_t *d, const void *address)
{
    const uintptr_t at = (uintptr_t)address;
    const unsigned n = atomic_load_explicit(&d->segments, memory_order_acquire);
    for (unsigned i = 0; i < n; i++) {
        const struct segment *s = &d->segment[i];
        const size_t page = (at - (uintptr_t)s->view) >> d->page_shift;
        if (page < s->count)
            return s->first + page;
    }
    const size_t page = (at - (uintptr_t)d->view) >> d->page_shift;
    return page < d->pages && !page_segment(d, page) ? page : PAGE_NONE;
}

/* The place of a word in a table of @places, a power of two. */
static inline size_t hash_place(uint64_t word, size_t places)
{
    return word * 0x9e3779b97f4a7c15u >> 32 & (places - 1);
}

/* Is the page's home here, and never protected? */
static inline bool page_is_open(const ddsm_t *d, size_t page)
{
    return d->page[page].kind == DDSM_OPEN && d->page[page].home == d->rank;
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
