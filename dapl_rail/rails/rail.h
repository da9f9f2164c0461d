/* SPDX-License-Identifier: BSD-3-Clause */
/* One rail: an IA with its PZ, EVDs and PSP. */
#ifndef DRAIL_RAILS_RAIL_H
#define DRAIL_RAILS_RAIL_H

#include <sys/socket.h>

#include <dat2/udat.h>

#include "dapl_rail/base/limits.h"
#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/slots.h"

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
    bool atomics;
    uint64_t max_rdma;
    unsigned request_depth; /* request DTOs outstanding per EP */
    unsigned dto_qlen, links;
    int cpu;                  /* core of the team's thread, -1: not pinned */
    double rate[TIMED_SLOTS]; /* bytes/ns, smoothed; 0: not measured */
    uint64_t busy_until;      /* end of the last timed part */
    struct burst burst;
    drail_rail_stats_t stats;
    drail_error_t error;
} __attribute__((aligned(CACHE_LINE)));

int rail_open(struct rail *rail, const char *name, bool extensions,
              drail_error_t *err);
/* qlen: DTO events that the EVD should hold. */
int rail_listen(struct rail *rail, unsigned qlen);
void rail_close(struct rail *rail);
int rails_find(const char *name, DAT_PROVIDER_INFO *info);

#endif
