/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank without credit of a peer learns why, and meanwhile does what other
 * ranks wait for.
 */
#include <stdatomic.h>

#include "team.h"

#define STARTS 40 /* many times as many as the transport has credits for */
#define BYTES  64

/* Shared by all ranks. */
static struct {
    _Atomic bool gathered, ahead;
} * said;

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    dcoll_request_t *bcast[STARTS];
    unsigned char buffer[STARTS][BYTES];
};

static void good(const struct scene *s, int rc)
{
    team_good(s->r, s->team, rc, "collective");
}

/* Broadcasts of rank 0 to all others, prepared. */
static void scene_open(struct scene *s, struct rank *r)
{
    s->r = r;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &s->team, NULL));
    good(s, dcoll_barrier(s->team)); /* prepares that of the end */
    for (unsigned i = 0; i < STARTS; i++) {
        dcoll_call_t c = {.collective = DCOLL_BCAST,
                          .recv = s->buffer[i],
                          .bytes = BYTES,
                          .algorithm = "direct"};
        good(s, dcoll_init(s->team, &c, &s->bcast[i]));
    }
}

static void start_all(struct scene *s)
{
    for (unsigned i = 0; i < STARTS; i++) {
        memset(s->buffer[i], s->r->rank ? 0 : (int)i + 1, BYTES);
        good(s, dcoll_start(s->bcast[i]));
    }
}

static void finish_all(struct scene *s)
{
    for (unsigned i = 0; i < STARTS; i++)
        good(s, dcoll_wait(s->bcast[i], -1));
    for (unsigned i = 0; i < STARTS; i++)
        for (unsigned b = 0; b < BYTES; b++)
            check(s->buffer[i][b] == i + 1);
}

/* Rank 1 gives up and takes nothing any more: its ledger says so. */
static void gave_up(struct rank *r)
{
    struct scene s;
    int rc = 0;
    scene_open(&s, r);
    if (r->rank == 1) {
        good(&s, dcoll_start(s.bcast[0]));
        check(dcoll_wait(s.bcast[0], 1) == DRAIL_ETIMEOUT);
        barrier(r);
    } else {
        barrier(r);
        start_all(&s);
        for (unsigned i = 0; i < STARTS && !rc; i++)
            rc = dcoll_wait(s.bcast[i], -1);
        printf("# %s\n", dcoll_last_error(s.team));
        check(rc == DRAIL_ETIMEOUT);
        check(strstr(dcoll_last_error(s.team), "rank 1 gave up") != NULL);
    }
    barrier(r);
    dcoll_team_free(s.team);
}

/* Outside of the library, which takes nothing meanwhile. */
static void await_word(_Atomic bool *word)
{
    for (unsigned ms = 0; !atomic_load(word); ms++) {
        check(ms < 20000);
        nap(1);
    }
}

/*
 * Rank 0 has no credit of rank 1 left, which has done its part of a gather and
 * comes when rank 2 has that gather's result, for which rank 0 has to pass on
 * what rank 1 has sent.
 */
static void others_go_on(struct rank *r)
{
    struct scene s;
    dcoll_request_t *gather;
    unsigned char send[BYTES], recv[4 * BYTES];
    scene_open(&s, r);
    memset(send, (int)r->rank + 1, BYTES);
    dcoll_call_t c = {DCOLL_GATHER, send, recv, BYTES, 2,
                      "binomial",   NULL, NULL};
    good(&s, dcoll_init(s.team, &c, &gather));
    good(&s, dcoll_start(gather));
    if (r->rank) {
        good(&s, dcoll_wait(gather, -1));
        if (r->rank == 2)
            atomic_store(&said->gathered, true);
        await_word(&said->gathered);
        start_all(&s);
        finish_all(&s);
    } else {
        start_all(&s);
        finish_all(&s);
        good(&s, dcoll_wait(gather, -1));
    }
    for (unsigned i = 0; r->rank == 2 && i < sizeof recv; i++)
        check(recv[i] == i / BYTES + 1);
    good(&s, dcoll_barrier(s.team)); /* in which all give credit */
    barrier(r);
    dcoll_team_free(s.team);
}

static void gather(struct scene *s, size_t bytes)
{
    unsigned char send[BYTES], recv[3 * BYTES];
    memset(send, (int)(s->r->rank + bytes), bytes);
    dcoll_call_t c = {DCOLL_GATHER, send, recv, bytes, 2, "direct", NULL, NULL};
    good(s, dcoll_run(s->team, &c));
    for (size_t i = 0; s->r->rank == 2 && i < 3 * bytes; i++)
        check(recv[i] == i / bytes + bytes);
}

/*
 * Rank 0 has run ahead as far as it can when it prepares another call. Rank 2,
 * which has waited for rank 1, then owes it more credits than the transport
 * has room for.
 */
static void preparing(struct rank *r)
{
    enum { SIZES = 8 };
    struct scene s = {.r = r};
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &s.team, NULL));
    for (size_t bytes = 1; bytes <= SIZES; bytes++)
        gather(&s, bytes);
    if (r->rank == 1)
        await_word(&said->ahead);
    for (unsigned start = 0; start < 2; start++)
        for (size_t bytes = 1; bytes <= SIZES; bytes++)
            gather(&s, bytes);
    if (r->rank == 0)
        atomic_store(&said->ahead, true);
    gather(&s, SIZES + 1);
    good(&s, dcoll_barrier(s.team));
    barrier(r);
    dcoll_team_free(s.team);
}

static void shallow(drail_config_t *cfg)
{
    cfg->timeout_ms = 5000;
    cfg->depth = 4;
}

static const struct test tests[] = {
    {"it hears that the peer gave up", 2, gave_up, shallow, APART | PPN(1)},
    {"others go on meanwhile", 4, others_go_on, shallow, APART | PPN(1)},
    {"who prepares gives credit", 3, preparing, shallow, APART | PPN(1)},
};

RUN_TESTS_AFTER(said = shared_memory(sizeof *said), 1, tests)
