/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim_all.h"

#include "coll/dcoll.h"
#include "simulated.h"
#include "tests/unit/collectives.h"

#define ROUNDS 2u
#define ROOT   1u

struct bed {
    const struct sim_all *all;
    dcoll_team_t *team;
    unsigned rank;
    unsigned char *send, *recv;
    size_t *sent, *received; /* of alltoallv: elements by rank */
    unsigned ran;
};

/* Bytes depend on the pair of ranks, the round and the place in the block. */
static unsigned char byte_of(unsigned from, unsigned to, unsigned round,
                             size_t i)
{
    return (unsigned char)(from * 31 + to * 17 + round * 101 + i * 7 + i / 251);
}

static void fill(unsigned char *block, size_t bytes, unsigned from, unsigned to,
                 unsigned round)
{
    for (size_t i = 0; i < bytes; i++)
        block[i] = byte_of(from, to, round, i);
}

static bool is(const unsigned char *block, size_t bytes, unsigned from,
               unsigned to, unsigned round)
{
    for (size_t i = 0; i < bytes; i++)
        if (block[i] != byte_of(from, to, round, i))
            return false;
    return true;
}

/* ------------------------------------------------------------ equal blocks */

static bool sends_all(const struct bed *b, dcoll_collective_t c)
{
    return gives_each(c) && (c != DCOLL_SCATTER || b->rank == ROOT);
}

static bool receives(const struct bed *b, dcoll_collective_t c)
{
    bool roots = c == DCOLL_GATHER || c == DCOLL_REDUCE;
    return c != DCOLL_BARRIER && (!roots || b->rank == ROOT);
}

/* The operands of this rank's result, combined in the order of ranks; without
 * any, RECV is as it was. */
static bool is_combined(const struct bed *b, const dcoll_call_t *call,
                        unsigned round)
{
    const unsigned to = gives_each(call->collective) ? b->rank : 0;
    const unsigned count =
        operands_of(call->collective, b->rank, b->all->ranks);
    for (size_t i = 0; i < b->all->bytes; i++) {
        unsigned char value = count ? byte_of(0, to, round, i) : 0;
        for (unsigned from = 1; from < count; from++)
            value =
                combined(call->reduction, value, byte_of(from, to, round, i));
        if (b->recv[i] != value)
            return false;
    }
    return true;
}

static bool from_root(dcoll_collective_t c)
{
    return c == DCOLL_BCAST || c == DCOLL_SCATTER;
}

static void prepare(struct bed *b, dcoll_collective_t c, unsigned round)
{
    size_t bytes = b->all->bytes;
    unsigned blocks = sends_all(b, c) ? b->all->ranks : 1;
    memset(b->recv, 0, b->all->ranks * bytes);
    for (unsigned i = 0; i < blocks; i++)
        fill(b->send + i * bytes, bytes, b->rank, gives_each(c) ? i : 0, round);
    if (c == DCOLL_BCAST && b->rank == ROOT)
        fill(b->recv, bytes, ROOT, 0, round);
}

static bool arrived(const struct bed *b, const dcoll_call_t *call,
                    unsigned round)
{
    const dcoll_collective_t c = call->collective;
    size_t bytes = b->all->bytes;
    unsigned to = gives_each(c) ? b->rank : 0;
    if (!receives(b, c))
        return true;
    if (call->reduction)
        return is_combined(b, call, round);
    if (from_root(c))
        return is(b->recv, bytes, ROOT, to, round);
    for (unsigned i = 0; i < b->all->ranks; i++)
        if (!is(b->recv + i * bytes, bytes, i, to, round))
            return false;
    return true;
}

static int call_equal(struct bed *b, const dcoll_algorithm_t *a, unsigned round)
{
    dcoll_collective_t c = a->collective;
    bool gives = c != DCOLL_BARRIER && c != DCOLL_BCAST &&
                 (c != DCOLL_SCATTER || b->rank == ROOT);
    bool rooted = from_root(c) || c == DCOLL_GATHER || c == DCOLL_REDUCE;
    dcoll_call_t call = {.collective = c,
                         .send = gives ? b->send : NULL,
                         .recv = receives(b, c) ? b->recv : NULL,
                         .bytes = c == DCOLL_BARRIER ? 0 : b->all->bytes,
                         .root = rooted ? ROOT : 0,
                         .algorithm = a->name,
                         .reduction =
                             reduction_for(a, dcoll_team_shape(b->team))};
    prepare(b, c, round);
    int rc = dcoll_run(b->team, &call);
    check(rc || arrived(b, &call, round));
    return rc;
}

/* --------------------------------------------------------------- irregular */

/* Most pairs have nothing for each other. */
static size_t elements(unsigned from, unsigned to)
{
    return (from * 7 + to * 3) % 5 ? 0 : (from + 2 * to) % 4;
}

static int call_irregular(struct bed *b, const dcoll_algorithm_t *a,
                          unsigned round)
{
    size_t element = b->all->bytes / 4, out = 0, in = 0;
    unsigned n = b->all->ranks;
    for (unsigned i = 0; i < n; i++) {
        b->sent[i] = elements(b->rank, i);
        b->received[i] = elements(i, b->rank);
        fill(b->send + out * element, b->sent[i] * element, b->rank, i, round);
        out += b->sent[i];
        in += b->received[i];
    }
    memset(b->recv, 0, in * element);
    const size_t bound = a->by_counts ? 0 : 3;
    dcoll_alltoallv_t call = {.send = b->send,
                              .send_counts = b->sent,
                              .recv = b->recv,
                              .recv_counts = b->received,
                              .element = element,
                              .max_pair = bound,
                              .max_rank = bound * n,
                              .algorithm = a->name};
    int rc = dcoll_alltoallv(b->team, &call);
    for (unsigned i = 0, at = 0; !rc && i < n; at += b->received[i++])
        check(is(b->recv + at * element, b->received[i] * element, i, b->rank,
                 round));
    return rc;
}

/* -------------------------------------------------------------------- ranks */

/* Irregular algorithms take long: the forms -n1 and -n2 are left out. */
static bool wanted(const struct sim_all *all, const dcoll_algorithm_t *a)
{
    char word[64];
    if (a->collective == DCOLL_ALLTOALLV && strstr(a->name, "-n"))
        return false;
    snprintf(word, sizeof word, " %s/%s ", dcoll_collective_name(a->collective),
             a->name);
    return !all->only || strstr(all->only, word);
}

static void run_algorithm(struct bed *b, const dcoll_algorithm_t *a)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        int rc = a->collective == DCOLL_ALLTOALLV ? call_irregular(b, a, round)
                                                  : call_equal(b, a, round);
        if (rc && !round) {
            check(strstr(dcoll_last_error(b->team), "within one node only"));
            return;
        }
        check(rc == 0);
    }
    b->ran++;
}

static void run_list(struct bed *b, const dcoll_algorithm_t *const *list)
{
    for (; *list; list++)
        if (wanted(b->all, *list))
            run_algorithm(b, *list);
}

static int perform_all(drail_job_t *job, void *arg)
{
    const struct sim_all *all = arg;
    struct bed b = {.all = all, .rank = drail_job_rank(job)};
    size_t bytes = all->ranks * all->bytes;
    drail_config_t cfg;
    drail_error_t err;
    drail_t *t = NULL;
    b.send = malloc(bytes);
    b.recv = malloc(bytes);
    b.sent = calloc(all->ranks, sizeof *b.sent);
    b.received = calloc(all->ranks, sizeof *b.received);
    drail_config_init(&cfg);
    cfg.rails[0] = "sim:";
    cfg.nrails = 1;
    cfg.engine = DRAIL_ENGINE_NONTHREADED;
    check(b.send && b.recv && b.sent && b.received);
    check(drail_open(job, &cfg, &t, &err) == 0);
    check(dcoll_team_create(job, t, NULL, &b.team, &err) == 0);
    run_list(&b, dcoll_algorithms());
    run_list(&b, dcoll_algorithms_irregular());
    if (!b.rank)
        printf("# %u algorithms\n", b.ran);
    check(b.ran > 0);
    dcoll_team_free(b.team);
    drail_close(t);
    free(b.send);
    free(b.recv);
    free(b.sent);
    free(b.received);
    return 0;
}

bool sim_all_run(const struct sim_all *all)
{
    return simulate("many", all->ranks, all->ppn, perform_all, (void *)all) ==
           0;
}
