/* SPDX-License-Identifier: BSD-3-Clause */
/* One rail: an IA with its PZ, EVDs and PSP. */
#ifndef DRAIL_RAILS_RAIL_H
#define DRAIL_RAILS_RAIL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"

struct buffers;
struct link;
struct loopback;
struct parting;
struct piece;

struct rail {
    drail_t *owner;
    unsigned index;
    drail_rail_info_t info;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async_evd, dto_evd, conn_evd, cr_evd;
    DAT_PZ_HANDLE pz;
    DAT_PSP_HANDLE psp;
    DAT_CONN_QUAL conn_qual;
    struct sockaddr_storage address;
    DAT_MEM_PRIV_FLAGS read_sink_priv; /* more, for targets of RDMA reads */
    bool atomics, write_immed;         /* offered, and allowed */
    bool atomics_of_processor; /* atomics: as the processor's own ones */
    bool split_receives; /* receives in two places save memory: those of short
                            messages lie close together */
    uint64_t max_rdma;
    unsigned request_depth; /* request DTOs outstanding per EP */
    unsigned dto_qlen, links;
    int cpu;                   /* core of the team's thread, -1: not pinned */
    _Atomic bool taken;        /* see rail_take */
    struct link **ends;        /* ep_table.c: links by their EPs, … */
    unsigned ends_lists;       /* … in so many lists, … */
    unsigned ends_count;       /* … so many of them */
    struct buffers *buffers;   /* buffers.c: of its links, … */
    struct piece *pieces;      /* … those that are free, … */
    unsigned buffers_pieces;   /* … and how many there are */
    struct link *closed;       /* freed when no event of theirs is left */
    struct slot *read;         /* see slot_return_soon */
    struct parting *partings;  /* EPs of links/ep_release.h */
    struct loopback *loopback; /* since the first atomic that needs it */
    bool evds_left;            /* the provider has not freed some */
    unsigned lost_links;       /* so many are, … */
    uint64_t lost_since_ns;    /* … since when at least one has been */
    drail_rail_stats_t stats;
    drail_error_t error;
} __attribute__((aligned(CACHE_LINE)));

int rail_open(struct rail *rail, const char *name, bool extensions,
              drail_error_t *err);
/* qlen: DTO events that the EVD should hold. */
int rail_listen(struct rail *rail, unsigned qlen);
void rail_close(struct rail *rail);

/* For those who need more than the rail has. */
int rail_evd_create(struct rail *rail, unsigned qlen, DAT_EVD_FLAGS flags,
                    DAT_EVD_HANDLE *evd);
/* Also DAT_HANDLE_NULL. False: the provider holds that it is in use. */
bool rail_evd_free(DAT_EVD_HANDLE evd);
int rail_listen_on(struct rail *rail, DAT_EVD_HANDLE cr_evd,
                   DAT_CONN_QUAL *qual, DAT_PSP_HANDLE *psp);

/*
 * While several threads are at work (drail.parallel), whoever touches a rail
 * has taken it: the thread that works for it, until it has done, or one that
 * waits and lets the others' rails go on. Does not wait.
 */
static inline bool rail_take(struct rail *rail)
{
    return !atomic_load_explicit(&rail->taken, memory_order_relaxed) &&
           !atomic_exchange_explicit(&rail->taken, true, memory_order_acquire);
}
static inline void rail_leave(struct rail *rail)
{
    atomic_store_explicit(&rail->taken, false, memory_order_release);
}

int rails_find(const char *name, DAT_PROVIDER_INFO *info);

#endif
