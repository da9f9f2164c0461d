/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of jobs with nodes of unequal size, and with nodes whose ranks
 * are not consecutive.
 */
#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/unit/collectives.h"

#define RANKS 5
#define MOST  20000

struct map {
    struct test test; /* first: what runs gets its address */
    unsigned node[RANKS];
    unsigned nnodes, begin[RANKS + 1]; /* of the shape that comes of it */
};

static const struct map *current; /* the ranks are forked */

static void check_shape(const dcoll_shape_t *shape)
{
    check(shape->nranks == RANKS);
    check(shape->nnodes == current->nnodes);
    for (unsigned n = 0; n <= shape->nnodes; n++)
        check(shape->node_begin[n] == current->begin[n]);
}

/* Each byte of a block names its source and its target. */
static unsigned char content(unsigned from, unsigned to, size_t i)
{
    return (unsigned char)(1 + from * 31 + to * 7 + i % 251);
}

/* Blocks for each rank, or one for all: in send, or a broadcast's buffer. */
static void fill_blocks(const struct rank *r, const dcoll_call_t *c)
{
    bool each = gives_each(c->collective);
    unsigned char *at =
        c->collective == DCOLL_BCAST ? c->recv : (unsigned char *)c->send;
    for (unsigned to = 0; to < (each ? r->size : 1); to++)
        for (size_t i = 0; i < c->bytes; i++)
            at[to * c->bytes + i] = content(r->rank, to, i);
}

static bool is_roots_alone(dcoll_collective_t what)
{
    return what == DCOLL_GATHER || what == DCOLL_REDUCE;
}

static void check_combined(const struct rank *r, const dcoll_call_t *c)
{
    const unsigned char *at = c->recv;
    const unsigned count = operands_of(c->collective, r->rank, r->size);
    const unsigned to = gives_each(c->collective) ? r->rank : 0;
    for (size_t i = 0; count && i < c->bytes; i++) {
        unsigned char value = content(0, to, i);
        for (unsigned from = 1; from < count; from++)
            value = combined(c->reduction, value, content(from, to, i));
        check(at[i] == value);
    }
}

static void check_blocks(const struct rank *r, const dcoll_call_t *c)
{
    bool each = gives_each(c->collective);
    const unsigned char *at = c->recv;
    bool all = c->collective != DCOLL_BCAST && c->collective != DCOLL_SCATTER;
    if (is_roots_alone(c->collective) && r->rank != c->root)
        return;
    if (c->reduction) {
        check_combined(r, c);
        return;
    }
    for (unsigned from = 0; from < (all ? r->size : 1); from++)
        for (size_t i = 0; i < c->bytes; i++)
            check(at[from * c->bytes + i] ==
                  content(all ? from : c->root, each ? r->rank : 0, i));
}

static void collectives(struct rank *r)
{
    static unsigned char send[RANKS * MOST], recv[RANKS * MOST];
    const size_t sizes[] = {8, MOST};
    dcoll_team_t *team;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    const dcoll_shape_t *shape = dcoll_team_shape(team);
    check_shape(shape);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned i = 0; i < 2; i++) {
            dcoll_call_t c = {.collective = (*a)->collective,
                              .send = send,
                              .recv = recv,
                              .bytes = sizes[i],
                              .root = 1,
                              .algorithm = (*a)->name,
                              .reduction = reduction_for(*a, shape)};
            dcoll_args_t args = {
                .collective = c.collective, .commutes = true, .depth = 2};
            if (c.collective == DCOLL_BARRIER ||
                dcoll_refusal(*a, shape, &args))
                continue;
            memset(recv, 0, sizeof recv);
            fill_blocks(r, &c);
            expect(r, 0, dcoll_run(team, &c));
            check_blocks(r, &c);
        }
    barrier(r);
    dcoll_team_free(team);
}

#define MAP(what)                                                              \
    {                                                                          \
        what, RANKS, collectives, NULL, APART                                  \
    }
static const struct map maps[] = {
    {MAP("uneven"), {0, 0, 1, 1, 1}, 2, {0, 2, 5}},
    {MAP("any numbers"), {7, 3, 3, 9, 9}, 3, {0, 1, 3, 5}},
    {MAP("round robin"), {0, 1, 0, 1, 0}, 5, {0, 1, 2, 3, 4, 5}},
    {MAP("a node in two parts"), {0, 0, 1, 0, 0}, 3, {0, 2, 3, 5}},
};

int main(void)
{
    unsigned failed = 0, n = sizeof maps / sizeof *maps;
    for (unsigned i = 0; i < n; i++) {
        drail_job_config_t cfg;
        drail_error_t err = {0};
        current = &maps[i];
        drail_job_config_init(&cfg);
        cfg.nranks = RANKS;
        cfg.nodes = current->node;
        cfg.error = &err;
        int rc = drail_job_run(&cfg, rank_main, (void *)&current->test);
        if (rc)
            printf("# %s\n", err.text);
        printf("%s %u - %s\n", rc ? "not ok" : "ok", i + 1, current->test.name);
        failed += rc != 0;
    }
    printf("1..%u\n", n);
    return failed > 0;
}
