/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's shared memory, and registered memory of the same rails to compare it
 * with. All parts of the test share both.
 */
#ifndef BENCH_DSM_BED_H
#define BENCH_DSM_BED_H

#include "bench/launch/outcome.h"
#include "bench/pair/session.h"
#include "dapl_rail/platform/platform.h"
#include "dsm/ddsm.h"
#include "setup.h"

/** Most pages that a rank writes between two barriers. */
#define DSM_RING_PAGES 16
/** Contents that programs begin with, in turn: what is left of the run before
 *  is wrong. */
#define DSM_SEEDS 2
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
    drail_key_t *keys;         /**< of all ranks */
    uint64_t pings;            /**< so far: both ends count the same */
    uint64_t stamp;            /**< of contents; all ranks count the same */
    void *programs[DSM_PARTS]; /**< their data; NULL: not to be measured */
    /** ... and results of one rank alone, by seeds */
    void *const (*solutions)[DSM_SEEDS];
    /** What PROGRAM_HISTORY has fetched in advance. */
    ddsm_stats_t foreseen[DSM_PARTS];
    outcome_t *outcome;
} dsm_bed_t;

/** Collective. On failure @p err says why, and the rank is to end with what is
 *  open: others may not have failed, and closing waits for all.
 *  @param extra bytes of shared memory that programs allocate. */
int dsm_bed_open(dsm_bed_t *bed, drail_job_t *job, const options_t *opts,
                 uint64_t extra, outcome_t *outcome, drail_error_t *err);
/** Collective, when nothing is under way any more. */
void dsm_bed_close(dsm_bed_t *bed);

/** Bytes of a page; of dsm_bed_t.room, which parts that are measured need; of
 *  dsm_bed_t.ring. */
uint64_t dsm_page(const options_t *opts);
uint64_t dsm_room(const options_t *opts);
uint64_t dsm_ring(const options_t *opts, unsigned ranks);

/** Another engine and other rails from now on. */
int dsm_bed_switch(dsm_bed_t *bed, const dsm_setup_t *setup);

/** Pieces of what is fetched, of so many bytes, whole pages, with a page before
 *  and after each that the client has already. There faults that go upwards
 *  end, so that none goes on from piece to piece or from repeat to repeat. */
typedef struct dsm_pieces {
    uint64_t count, bytes;
} dsm_pieces_t;

/** Where one begins in the shared memory and in that of the rails. */
static inline uint64_t dsm_piece(const dsm_bed_t *bed, const dsm_pieces_t *p,
                                 uint64_t i)
{
    return bed->page + i * (p->bytes + bed->page);
}

/** New contents of these pieces, under the next stamp, of the shared memory and
 *  that of the rails, at home. A barrier: all may fetch them; the client has
 *  what is between them. */
int dsm_bed_renew(dsm_bed_t *bed, const dsm_pieces_t *pieces);
/** Has the client's copy, or what it has read to, these contents? */
bool dsm_bed_right(const dsm_bed_t *bed, const char *memory,
                   const dsm_pieces_t *pieces);
/** The single pages of fetch and diff. */
static inline dsm_pieces_t dsm_single_pages(const dsm_bed_t *bed)
{
    return (dsm_pieces_t){bed->opts->dsm.pages, bed->page};
}

/** The rank whose memory is fetched; the client fetches it. They are on two
 *  nodes, if there are. */
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
