/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's shared memory and what it is compared with, registered memory of the
 * same rails, which all parts of the test share. */
#ifndef BENCH_DSM_BED_H
#define BENCH_DSM_BED_H

#include "bench/pair/outcome.h"
#include "bench/pair/session.h"
#include "dapl_rail/platform/platform.h"
#include "dsm/ddsm.h"
#include "setup.h"

/** Most pages that a rank writes between two barriers. */
#define DSM_RING_PAGES 16
/** Elements of the shared memory, in bytes. */
#define DSM_ELEMENT 8

typedef struct dsm_bed {
    const options_t *opts;
    drail_job_t *job;
    const struct drail_platform *platform;
    unsigned rank, ranks;
    ddsm_t *space;
    uint64_t page; /**< bytes of one */
    uint64_t room; /**< bytes of what is fetched at most */
    /** In the shared memory: room bytes whose home is rank 0; DSM_RING_PAGES
     *  pages of each home; a page. */
    char *remote, *ring;
    uint64_t *counter;
    /** Memory of the rails: a page with the words of the ping-pong, then room
     *  bytes that others read, then as many that they are read to. */
    char *slots, *source, *target;
    drail_mem_t *mem;
    drail_key_t *keys;            /**< of all ranks */
    uint64_t pings;               /**< so far: both ends count the same */
    uint64_t stamp;               /**< of contents; all ranks count the same */
    void *programs[DSM_PARTS];    /**< their data; NULL: not to be measured */
    const void *const *solutions; /**< ... and results of one rank alone */
    outcome_t *outcome;
} dsm_bed_t;

/** Collective. On failure @p err says why; dsm_bed_close in either case, which
 *  no rank may be under way at.
 *  @param extra bytes of shared memory that programs allocate. */
int dsm_bed_open(dsm_bed_t *bed, drail_job_t *job, const options_t *opts,
                 uint64_t extra, outcome_t *outcome, drail_error_t *err);
void dsm_bed_close(dsm_bed_t *bed);

/** Bytes of a page. */
uint64_t dsm_page(const options_t *opts);

/** Another engine and other rails from now on. */
int dsm_bed_switch(dsm_bed_t *bed, const dsm_setup_t *setup);

/** New contents, under the next stamp, of so many bytes of the client's pages
 *  and of plain memory, at home. A barrier: all may fetch them. */
int dsm_bed_renew(dsm_bed_t *bed, size_t bytes);

/** Whose memory is fetched, and by whom: ranks of two nodes, if there are. */
static inline bool dsm_is_home(const dsm_bed_t *bed)
{
    return bed->rank == 0;
}

static inline bool dsm_is_client(const dsm_bed_t *bed)
{
    return bed->rank == bed->ranks - 1;
}

/** The sentence of the last failed call. */
const char *dsm_bed_why(const dsm_bed_t *bed);

#endif
