/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In virtual time, too, memory that is released in the middle of a get or put
 * takes no more part in it: the getter gets nothing of what is there next, nor
 * is the putter's next content put.
 */
#include "dapl_rail/platform/platform.h"
#include "simulated.h"

#define BYTES      (4u << 20) /* four milliseconds on this rail */
#define RELEASE_NS 2000000u
#define OLD        0x11
#define NEW        0x5a

struct side {
    drail_t *t;
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[2];
};

static void open_side(struct side *s, drail_job_t *job)
{
    drail_config_t cfg;
    drail_error_t err;
    drail_key_t key;
    unsigned rank = drail_job_rank(job);
    drail_config_init(&cfg);
    cfg.rails[0] = "sim0";
    cfg.nrails = 1;
    s->bytes = malloc(BYTES);
    memset(s->bytes, OLD + (int)rank, BYTES);
    check(drail_open(job, &cfg, &s->t, &err) == 0);
    check(drail_connect(s->t, !rank) == 0);
    check(drail_mem_register(s->t, s->bytes, BYTES, DRAIL_ACCESS_ALL,
                             &s->mem) == 0);
    drail_mem_key(s->mem, &key);
    check(drail_job_allgather(job, &key, sizeof key, s->keys, -1) == 0);
}

/* The data that belong to this rank now must not go anywhere. */
static void release(struct side *s, const drail_job_t *job)
{
    platform_sleep(drail_job_platform(job), RELEASE_NS);
    check(drail_mem_release(s->mem) == 0);
    s->mem = NULL;
    memset(s->bytes, NEW, BYTES);
}

static void close_side(struct side *s, drail_job_t *job)
{
    check(drail_job_barrier(job, -1) == 0);
    check(memchr(s->bytes, drail_job_rank(job) ? NEW : OLD, BYTES) == NULL);
    check(drail_job_barrier(job, -1) == 0);
    check(!s->mem || drail_mem_release(s->mem) == 0);
    drail_close(s->t);
    free(s->bytes);
}

/* Rank 1 gets from rank 0, or the other way round puts: rank 0 releases. */
static int got(drail_job_t *job, void *unused)
{
    struct side s;
    drail_req_t req;
    open_side(&s, job);
    if (drail_job_rank(job) == 0) {
        release(&s, job);
    } else {
        drail_xfer_t x = {s.bytes, s.mem, &s.keys[0], 0, BYTES};
        check(drail_get(s.t, 0, &x, 0, &req) == 0);
        check(drail_wait(s.t, &req, 1000) != 0);
    }
    close_side(&s, job);
    return 0;
}

static int put(drail_job_t *job, void *unused)
{
    struct side s;
    drail_req_t req;
    open_side(&s, job);
    if (drail_job_rank(job) == 0) {
        drail_xfer_t x = {s.bytes, s.mem, &s.keys[1], 0, BYTES};
        check(drail_put(s.t, 1, &x, 0, 0, &req) == 0);
        release(&s, job);
        check(drail_wait(s.t, &req, 1000) != 0);
    } else {
        drail_notify_wait(s.t, 0, NULL, 100);
    }
    close_side(&s, job);
    return 0;
}

int main(int argc, char **argv)
{
    simulated_or_skip(argv);
    report(simulate("one-rail", 2, 1, got, NULL) == 0, "got from");
    report(simulate("one-rail", 2, 1, put, NULL) == 0, "put from");
    return reported();
}
