/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bed.h"
#include "words.h"

#define SLOTS_BYTES  4096 /* before what is read */
#define LOCKS_LEAST  64
#define RANGES_BYTES (512 << 10) /* of small ones, several in a repeat */

static int failed(drail_error_t *err, int rc, const char *why)
{
    err->code = rc;
    snprintf(err->text, sizeof err->text, "%s",
             why && *why ? why : drail_strerror(rc));
    return rc;
}

const char *dsm_bed_why(const dsm_bed_t *bed)
{
    if (!bed->space)
        return "";
    const char *text = ddsm_last_error(bed->space);
    if (!*text) {
        text = drail_last_error(ddsm_rails_take(bed->space));
        ddsm_rails_give(bed->space);
    }
    return text;
}

/* A fault can't return an error. A forked rank puts it into the shared outcome
 * and exits; for a launched rank, the library prints it and exits. */
static void fault_failed(void *context, int code, const char *sentence)
{
    dsm_bed_t *bed = context;
    if (bed->opts->locals)
        return;
    outcome_set(bed->outcome, bed->rank, code, "rank %u: %s", bed->rank,
                sentence);
    _exit(1);
}

uint64_t dsm_page(const options_t *opts)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    return opts->dsm.page ? opts->dsm.page : cfg.page_bytes;
}

uint64_t dsm_room(const options_t *opts)
{
    const uint64_t page = dsm_page(opts);
    const bool ranges = dsm_chosen(opts, DSM_RANGE);
    uint64_t room = page;
    if (dsm_chosen(opts, DSM_FETCH) || dsm_chosen(opts, DSM_DIFF))
        room = (1 + 2 * opts->dsm.pages) * page;
    if (ranges && room < page + RANGES_BYTES)
        room = page + RANGES_BYTES;
    for (unsigned i = 0; ranges && i < opts->nsizes; i++)
        if (opts->sizes[i] + 2 * page > room)
            room = opts->sizes[i] + 2 * page;
    return room;
}

uint64_t dsm_ring(const options_t *opts, unsigned ranks)
{
    return DSM_RING_PAGES * dsm_page(opts) * ranks;
}

static int open_space(dsm_bed_t *bed, const drail_config_t *rails,
                      uint64_t extra, drail_error_t *err)
{
    ddsm_config_t cfg;
    ddsm_config_init(&cfg);
    bed->page = dsm_page(bed->opts);
    bed->room = dsm_room(bed->opts);
    cfg.page_bytes = bed->page;
    cfg.bytes = bed->room + dsm_ring(bed->opts, bed->ranks) + bed->page + extra;
    cfg.locks = bed->ranks > LOCKS_LEAST ? bed->ranks : LOCKS_LEAST;
    cfg.ahead = (unsigned)bed->opts->dsm.ahead;
    cfg.rails = rails;
    cfg.failed = fault_failed;
    cfg.context = bed;
    return ddsm_open(bed->job, &cfg, &bed->space, err);
}

static int allocate(dsm_bed_t *bed, drail_error_t *err)
{
    const ddsm_place_t one = {.element = DSM_ELEMENT, .homes = DDSM_ONE};
    const ddsm_place_t block = {.element = DSM_ELEMENT, .homes = DDSM_BLOCK};
    bed->remote = ddsm_alloc(bed->space, bed->room, &one);
    bed->ring = ddsm_alloc(bed->space, dsm_ring(bed->opts, bed->ranks), &block);
    bed->counter = ddsm_alloc(bed->space, bed->page, &one);
    return bed->remote && bed->ring && bed->counter
               ? 0
               : failed(err, DRAIL_ENOMEM, ddsm_last_error(bed->space));
}

/* Allocates registered memory, for the transfers that shared pages are compared
 * with. */
static int allocate_plain(dsm_bed_t *bed, drail_error_t *err)
{
    drail_t *rail = ddsm_rails_take(bed->space);
    void *start;
    int rc =
        drail_mem_alloc(rail, SLOTS_BYTES + 2 * bed->room,
                        DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_REMOTE_WRITE,
                        &start, &bed->mem);
    if (rc) {
        failed(err, rc, drail_last_error(rail));
    } else {
        bed->slots = start;
        bed->source = bed->slots + SLOTS_BYTES;
        bed->target = bed->source + bed->room;
    }
    ddsm_rails_give(bed->space);
    return rc;
}

static int exchange_keys(dsm_bed_t *bed, drail_error_t *err)
{
    drail_key_t key;
    drail_mem_key(bed->mem, &key);
    bed->keys = calloc(bed->ranks, sizeof *bed->keys);
    int rc = bed->keys ? drail_job_allgather(bed->job, &key, sizeof key,
                                             bed->keys, -1)
                       : DRAIL_ENOMEM;
    return rc ? failed(err, rc, drail_job_last_error(bed->job)) : 0;
}

int dsm_bed_open(dsm_bed_t *bed, drail_job_t *job, const options_t *opts,
                 uint64_t extra, outcome_t *outcome, drail_error_t *err)
{
    unsigned rank = drail_job_rank(job);
    pinning_t pinning = session_pinning(opts, rank);
    drail_config_t rails;
    *bed = (dsm_bed_t){.opts = opts,
                       .job = job,
                       .platform = drail_job_platform(job),
                       .rank = rank,
                       .ranks = drail_job_size(job),
                       .outcome = outcome};
    session_config(&rails, opts, &pinning);
    int rc = open_space(bed, &rails, extra, err);
    if (rc)
        return rc;
    /* only after drail_open, which reads the allowed cores */
    if (!opts->no_pin)
        session_pin(&pinning, opts);
    rc = allocate(bed, err);
    if (!rc)
        rc = allocate_plain(bed, err);
    return rc ? rc : exchange_keys(bed, err);
}

void dsm_bed_close(dsm_bed_t *bed)
{
    if (bed->mem) {
        ddsm_rails_take(bed->space);
        drail_mem_release(bed->mem);
        ddsm_rails_give(bed->space);
    }
    ddsm_close(bed->space);
    free(bed->keys);
}

int dsm_bed_switch(dsm_bed_t *bed, const dsm_setup_t *setup)
{
    drail_t *rail = ddsm_rails_take(bed->space);
    int rc = dsm_setup_apply(setup, bed->opts, rail);
    ddsm_rails_give(bed->space);
    return rc;
}

/* Fetches the pages between the pieces: home may have become their owner when
 * it wrote the pieces. */
static int fetch_between(dsm_bed_t *bed, const dsm_pieces_t *p)
{
    int rc = 0;
    for (uint64_t i = 0; !rc && i <= p->count; i++)
        rc = ddsm_prefetch(bed->space,
                           bed->remote + dsm_piece(bed, p, i) - bed->page,
                           bed->page, false);
    return rc;
}

int dsm_bed_renew(dsm_bed_t *bed, const dsm_pieces_t *p)
{
    bed->stamp++;
    for (uint64_t i = 0; dsm_is_home(bed) && i < p->count; i++) {
        const uint64_t at = dsm_piece(bed, p, i);
        words_fill(bed->remote, at, p->bytes, bed->stamp);
        words_fill(bed->source, at, p->bytes, bed->stamp);
    }
    int rc = ddsm_barrier(bed->space);
    return !rc && dsm_is_client(bed) ? fetch_between(bed, p) : rc;
}

bool dsm_bed_right(const dsm_bed_t *bed, const char *memory,
                   const dsm_pieces_t *p)
{
    bool right = true;
    for (uint64_t i = 0; i < p->count; i++)
        right &=
            words_right(memory, dsm_piece(bed, p, i), p->bytes, bed->stamp);
    return right;
}
