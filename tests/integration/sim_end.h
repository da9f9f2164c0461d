/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks in virtual time that put to one another. */
#ifndef TESTS_SIM_END_H
#define TESTS_SIM_END_H

#include "dapl_rail/platform/platform.h"
#include "simulated.h"

#define MOST      (4u << 20) /* bytes of a put */
#define ENDS_MOST 17u

struct end {
    drail_t *t;
    unsigned peer;
    unsigned char *buffer; /* to be sent, and received */
    drail_mem_t *mem;
    drail_key_t keys[ENDS_MOST];
};

static inline void put(struct end *e, size_t bytes, unsigned flags,
                       drail_req_t *req)
{
    drail_xfer_t x = {.local = e->buffer,
                      .local_mem = e->mem,
                      .remote = &e->keys[e->peer],
                      .remote_offset = MOST,
                      .bytes = bytes};
    check(drail_put(e->t, e->peer, &x, flags, 1, req) == 0);
}

static inline void await(struct end *e)
{
    uint32_t id;
    check(drail_notify_wait(e->t, e->peer, &id, -1) == 0 && id == 1);
}

static inline uint64_t now(const drail_job_t *job)
{
    return platform_now(drail_job_platform(job));
}

static inline void open_end(struct end *e, drail_job_t *job,
                            const drail_config_t *cfg)
{
    drail_key_t key;
    drail_error_t err;
    unsigned rank = drail_job_rank(job), size = drail_job_size(job);
    e->peer = !rank;
    e->buffer = calloc(2, MOST);
    check(drail_open(job, cfg, &e->t, &err) == 0);
    for (unsigned i = 0; i < size; i++)
        check(i == rank || drail_connect(e->t, i) == 0);
    check(drail_mem_register(e->t, e->buffer, 2 * (size_t)MOST,
                             DRAIL_ACCESS_REMOTE_WRITE, &e->mem) == 0);
    drail_mem_key(e->mem, &key);
    check(drail_job_allgather(job, &key, sizeof key, e->keys, -1) == 0);
}

static inline void close_end(struct end *e, drail_job_t *job)
{
    check(drail_job_barrier(job, -1) == 0);
    check(drail_mem_release(e->mem) == 0);
    drail_close(e->t);
    free(e->buffer);
}

/* To a thousandth. */
static inline bool near(const char *what, double is, double should)
{
    bool ok = is >= should * 0.999 && is <= should * 1.001;
    if (!ok)
        printf("# %s: %.3f, not %.3f\n", what, is, should);
    return ok;
}

#endif
