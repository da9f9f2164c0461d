/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rail: an IA with its PZ, EVDs and PSP. The files of this folder:
 *
 *   rail.h             opening an IA, listening, closing
 *   rail_info.c        a rail's description, and the parts that two rails share
 *   registry.c         the rails that the registry lists
 *   fail.h             errors of a rail
 *   locality.h         the cores near a rail
 *   network.h          the network of an address
 *   signal_handlers.h  providers must not replace the program's handlers
 */
#ifndef DRAIL_RAILS_RAIL_H
#define DRAIL_RAILS_RAIL_H

#include <stdatomic.h>
#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"

struct buffers;
struct dapl_direct;
struct ep_release;
struct link;
struct loopback;
struct piece;

/* links/ep_table.c: a hash table of links by their EPs. */
struct ep_table {
    struct link **lists;
    unsigned nlists, count;
};

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
    DAT_MEM_PRIV_FLAGS read_sink_priv; /* to add for targets of RDMA reads */
    bool atomics, write_immed;         /* offered, and allowed */
    /* the same, of providers/core/extensions.h: */
    uint32_t max_inline_send;
    bool places_receives, growing_sends, direct_messages, tries_free;
    const struct dapl_direct *direct; /* NULL: no EP has asked for it yet, or it
                                         is not offered */
    bool atomics_of_processor; /* atomic with those of the processor, too */
    bool split_receives; /* a receive lies in two places: short messages are
                            close together, which saves memory */
    uint64_t max_rdma;
    unsigned request_depth; /* request DTOs outstanding per EP */
    unsigned dto_qlen, links;
    int cpu;            /* core of the team's thread, -1: not pinned */
    _Atomic bool taken; /* see rail_take */
    struct ep_table ep_table;
    struct buffers *buffers;     /* buffers.c: memory of its links, … */
    struct piece *pieces;        /* … its free pieces, … */
    unsigned buffers_pieces;     /* … and the number of all */
    struct link *closed;         /* see links_bury */
    struct slot *unreturned;     /* see slot_return_soon */
    uint64_t polls;              /* of its EVD, by this rank */
    struct ep_release *releases; /* links/ep_release.c: the list */
    struct loopback *loopback;   /* NULL until the first atomic that needs it */
    bool evds_left;              /* the provider has not freed some */
    unsigned lost_links;         /* so many are lost, … */
    uint64_t lost_since_ns;      /* … and at least one since then */
    drail_rail_stats_t stats;
    drail_error_t error;
} __attribute__((aligned(CACHE_LINE)));

/* Opens the IA with this name and asks for its attributes. 0 or an error. */
int rail_open(struct rail *rail, const char *name, bool extensions,
              drail_error_t *err);
/* Creates the PZ, EVDs and PSP. qlen: DTO events that the EVD should hold. */
int rail_listen(struct rail *rail, unsigned qlen);
void rail_close(struct rail *rail);

/* EVDs and PSPs besides those of the rail. */
int rail_evd_create(struct rail *rail, unsigned qlen, DAT_EVD_FLAGS flags,
                    DAT_EVD_HANDLE *evd);
/* The handle may be DAT_HANDLE_NULL. False: the provider says that the EVD is
 * in use. */
bool rail_evd_free(DAT_EVD_HANDLE evd);
int rail_listen_on(struct rail *rail, DAT_EVD_HANDLE cr_evd,
                   DAT_CONN_QUAL *qual, DAT_PSP_HANDLE *psp);

/*
 * While several threads are at work (drail.parallel), a thread must take a rail
 * before it uses it: the rail's own thread for as long as it works, or another
 * thread that waits and lets this rail go on. Does not wait: false if it is
 * taken.
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

/* The registry's entry of this name. 0, DRAIL_ENORAIL or another error. */
int rails_find(const char *name, DAT_PROVIDER_INFO *info);

#endif
