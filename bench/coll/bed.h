/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's transport, team and buffers. Setups that treat long blocks in the
 * same way share them.
 */
#ifndef BENCH_COLL_BED_H
#define BENCH_COLL_BED_H

#include "plan.h"
#include "bench/pair/session.h"
#include "dapl_rail/platform/platform.h"

/** Bytes on both sides of the buffers that nobody may touch. */
#define COLL_GUARD 4096
/** The buffers have room for at least so much. */
#define COLL_BED_MIN ((size_t)256 << 10)

/** Memory as malloc has it, page-aligned, that the library knows nothing of. */
typedef struct coll_plain {
    uint8_t *at; /**< between guards */
    size_t size; /**< with them; 0: there is none */
} coll_plain_t;

typedef struct coll_bed {
    unsigned rank;
    const struct drail_platform *platform;
    drail_t *rail;
    dcoll_team_t *team;
    uint8_t *send, *recv; /**< between guards */
    drail_mem_t *send_mem, *recv_mem;
    coll_plain_t plain_send, plain_recv; /**< of blocking calls, if there are
                                              some */
} coll_bed_t;

/** The transport and the buffers; all ranks. On failure @p err says why;
 *  coll_bed_close in either case. */
int coll_bed_open(coll_bed_t *bed, drail_job_t *job, const coll_plan_t *plan,
                  const pinning_t *pinning, drail_error_t *err);
/** ... then the team. */
int coll_bed_team(coll_bed_t *bed, drail_job_t *job, const coll_plan_t *plan,
                  zero_copy_t zero_copy, drail_error_t *err);
/** No rank may be under way. */
void coll_bed_close(coll_bed_t *bed);

/** Engine, team of threads and policy of a setup. */
int coll_bed_switch(coll_bed_t *bed, const setup_t *setup);
/** The buffers of a setup. */
uint8_t *coll_bed_send(const coll_bed_t *bed, const coll_setup_t *setup);
uint8_t *coll_bed_recv(const coll_bed_t *bed, const coll_setup_t *setup);
/** The call of a setup with its buffers. */
dcoll_call_t coll_bed_call(const coll_bed_t *bed, const coll_plan_t *plan,
                           const coll_setup_t *setup, size_t bytes);

#endif
