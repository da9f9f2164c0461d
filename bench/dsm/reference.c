/* SPDX-License-Identifier: BSD-3-Clause */

#include "bench/clock.h"
#include "bench/pair/result.h"
#include "reference.h"

#define WARMUP      10
#define ROUND_TRIPS 100
#define LOOKS       1000 /* before a call, … */
#define CALLS       64   /* … or calls that move the data, before a yield */

/* The words of the ping-pong: the incoming one and, in another cache line, the
 * outgoing one. */
typedef struct slots {
    uint64_t in;
    char apart[120];
    uint64_t out;
} slots_t;

typedef struct pinger {
    dsm_bed_t *bed;
    slots_t *slots;
    drail_t *rail;
    unsigned peer;
    bool polls;  /* memory */
    bool polled; /* data move in calls only */
} pinger_t;

static int await(pinger_t *p)
{
    uint64_t deadline = 0;
    unsigned looks = p->polled ? 1 : LOOKS;
    int rc = 0;
    for (unsigned i = 1; !rc; i++) {
        if (__atomic_load_n(&p->slots->in, __ATOMIC_ACQUIRE) == p->bed->pings)
            return 0;
        if (i % looks)
            continue;
        rc = drail_progress(p->rail);
        if (!rc && (!p->polled || i % CALLS == 0))
            rc = clock_let_others(&deadline);
    }
    return rc;
}

static int send_word(pinger_t *p)
{
    const drail_xfer_t xfer = {.local = &p->slots->out,
                               .local_mem = p->bed->mem,
                               .remote = &p->bed->keys[p->peer],
                               .bytes = sizeof p->slots->out};
    p->slots->out = p->bed->pings;
    return p->polls ? drail_put(p->rail, p->peer, &xfer, 0, 0, NULL)
                    : drail_send(p->rail, p->peer, &p->slots->out,
                                 sizeof p->slots->out, NULL);
}

static int await_word(pinger_t *p)
{
    uint64_t word;
    size_t received;
    if (p->polls)
        return await(p);
    int rc = drail_recv(p->rail, p->peer, &word, sizeof word, &received, -1);
    return rc || word == p->bed->pings ? rc : DRAIL_EDAT;
}

static int round_trip(pinger_t *p)
{
    int rc;
    p->bed->pings++;
    if (dsm_is_client(p->bed)) {
        rc = send_word(p);
        return rc ? rc : await_word(p);
    }
    rc = await_word(p);
    return rc ? rc : send_word(p);
}

static void look_at_rails(pinger_t *p)
{
    p->polls = true;
    for (unsigned i = 0; i < drail_nrails(p->rail); i++) {
        const drail_rail_info_t *info = drail_rail_at(p->rail, i);
        p->polls &= !fabric_modelled(info->fabric);
        p->polled |= info->is_polled;
    }
}

int reference_pingpong(dsm_bed_t *bed, double *us)
{
    pinger_t p = {.bed = bed,
                  .slots = (slots_t *)bed->slots,
                  .rail = ddsm_rails_take(bed->space),
                  .peer = dsm_is_home(bed) ? bed->ranks - 1 : 0};
    uint64_t from = 0;
    look_at_rails(&p);
    int rc = 0;
    for (unsigned i = 0; !rc && i < WARMUP + ROUND_TRIPS; i++) {
        if (i == WARMUP)
            from = clock_ns();
        rc = round_trip(&p);
    }
    if (dsm_is_client(bed))
        *us = (double)(clock_ns() - from) / (2e3 * ROUND_TRIPS);
    if (!rc)
        rc = drail_fence(p.rail, p.peer);
    ddsm_rails_give(bed->space);
    return rc;
}

int reference_get(dsm_bed_t *bed, uint64_t offset, uint64_t bytes)
{
    const drail_xfer_t xfer = {
        .local = bed->target + offset,
        .local_mem = bed->mem,
        .remote = &bed->keys[0],
        .remote_offset = (uint64_t)(bed->source - bed->slots) + offset,
        .bytes = bytes};
    drail_t *rail = ddsm_rails_take(bed->space);
    drail_req_t req;
    int rc = drail_get(rail, 0, &xfer, 0, &req);
    if (!rc) {
        rc = drail_wait(rail, &req, -1);
        if (rc) /* nothing may write to a request that is no more */
            drail_forget(rail, &req);
    }
    ddsm_rails_give(bed->space);
    return rc;
}
