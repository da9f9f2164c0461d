/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks of one process, each with its transport, connected with each
 * other. */
#ifndef TESTS_FUZZ_PAIR_H
#define TESTS_FUZZ_PAIR_H

#include <pthread.h>

#include "dapl_rail/dapl_rail.h"
#include "fuzz.h"

struct pair {
    drail_config_t cfg;
    drail_job_t *job[2];
    drail_t *t[2];
    /* the all-gather */
    pthread_barrier_t meeting;
    unsigned char *contributions[2];
};

struct pair_rank {
    struct pair *pair;
    unsigned rank;
    void (*run)(struct pair *pair, unsigned rank);
};

static inline int pair_allgather(void *context, const void *mine, size_t bytes,
                                 void *all, int timeout_ms)
{
    struct pair_rank *r = context;
    struct pair *p = r->pair;
    (void)timeout_ms;
    memcpy(p->contributions[r->rank], mine, bytes);
    pthread_barrier_wait(&p->meeting);
    for (unsigned i = 0; i < 2; i++)
        memcpy((unsigned char *)all + i * bytes, p->contributions[i], bytes);
    pthread_barrier_wait(&p->meeting);
    return 0;
}

static inline void *pair_run(void *arg)
{
    struct pair_rank *r = arg;
    r->run(r->pair, r->rank);
    return NULL;
}

/* Both ranks do this, together. */
static inline void pair_both(struct pair *p,
                             void (*run)(struct pair *, unsigned rank))
{
    pthread_t thread;
    struct pair_rank ranks[2] = {{p, 0, run}, {p, 1, run}};
    must(!pthread_create(&thread, NULL, pair_run, &ranks[1]));
    pair_run(&ranks[0]);
    must(!pthread_join(thread, NULL));
}

static inline void pair_open_rank(struct pair *p, unsigned rank)
{
    drail_error_t err = {0};
    static struct pair_rank ranks[2];
    ranks[rank] = (struct pair_rank){.pair = p, .rank = rank};
    drail_job_join_t how = {.rank = rank,
                            .size = 2,
                            .allgather = pair_allgather,
                            .context = &ranks[rank]};
    int rc = drail_job_join(&how, &p->job[rank], &err);
    if (!rc)
        rc = drail_open(p->job[rank], &p->cfg, &p->t[rank], &err);
    if (rc)
        fprintf(stderr, "rank %u: %s\n", rank, err.text);
    must(rc == 0);
}

/* Not freed: it serves all inputs. */
static inline struct pair *pair_open(const drail_config_t *cfg)
{
    struct pair *p = calloc(1, sizeof *p);
    must(p != NULL);
    p->cfg = *cfg;
    must(!pthread_barrier_init(&p->meeting, NULL, 2));
    for (unsigned i = 0; i < 2; i++)
        must((p->contributions[i] = malloc(65536)) != NULL);
    pair_both(p, pair_open_rank);
    return p;
}

static inline void pair_connect_rank(struct pair *p, unsigned rank)
{
    must(drail_connect(p->t[rank], 1 - rank) == 0);
}

#endif
