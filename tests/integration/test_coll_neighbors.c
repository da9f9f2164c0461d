/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exchanges with neighbours: blocking, non-blocking and persistent, within a
 * node and between nodes. Wrong lists are an error that names rank and
 * argument, and nothing is written.
 */
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>

#include "team.h"
#include "tests/stand_in.h"

enum { RANKS = 4, TWICE = 2, BLOCKS = RANKS * TWICE, GAP = 3, STARTS = 3 };

#define PAGE   ((uint64_t)4096)
#define PACKED ((size_t)65536)

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };

/* ---------------------------------------------------------------- graphs */

/* How many blocks does one rank send to another? */
typedef unsigned edges_t(unsigned from, unsigned to);

static unsigned ring(unsigned from, unsigned to)
{
    return to == (from + 1) % RANKS;
}

/* As in a grid whose dimensions have two ranks. */
static unsigned twins(unsigned from, unsigned to)
{
    return (from ^ to) == 1 || (from ^ to) == 2 ? TWICE : 0;
}

/* Itself, too. */
static unsigned all(unsigned from, unsigned to)
{
    return from == to ? TWICE : 1;
}

static unsigned star(unsigned from, unsigned to)
{
    return !from && to;
}

static unsigned none(unsigned from, unsigned to)
{
    return from + to > 2 * RANKS;
}

static const struct graph {
    const char *name;
    edges_t *edges;
    bool same; /* a rank sends one block to all */
} graphs[] = {
    {"ring", ring, false},    {"twins", twins, false},
    {"all", all, false},      {"star", star, false},
    {"none", none, false},    {"same", ring, true},
    {"same, all", all, true}, {"same, twins", twins, true},
};

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    const struct graph *graph;
    size_t scale;
    dcoll_block_t to[BLOCKS], from[BLOCKS];
    unsigned char *send, *recv;
    size_t sent, received; /* bytes of the buffers */
    dcoll_neighbor_alltoallv_t call;
};

static size_t size_of(const struct scene *s, unsigned from, unsigned to,
                      unsigned k)
{
    const unsigned other = s->graph->same ? 0 : 3 * to + 11 * k;
    return s->scale * (1 + (5 * from + other) % 17);
}

static unsigned char content(const struct scene *s, unsigned from, unsigned to,
                             unsigned k, size_t i, unsigned start)
{
    const unsigned other = s->graph->same ? 0 : 7 * to + 19 * k;
    return (unsigned char)(31 * from + other + start * 5 + i % 251);
}

/* The second blocks of all ranks come after the first ones, in other orders at
 * both ends. */
static void make_lists(struct scene *s)
{
    const unsigned me = s->r->rank;
    dcoll_neighbor_alltoallv_t *c = &s->call;
    *c =
        (dcoll_neighbor_alltoallv_t){.destinations = s->to, .sources = s->from};
    s->sent = s->received = GAP;
    for (unsigned k = 0; k < TWICE; k++)
        for (unsigned i = 0; i < RANKS; i++) {
            const unsigned to = i, from = RANKS - 1 - i;
            if (k < s->graph->edges(me, to)) {
                const size_t begin = s->graph->same ? GAP : s->sent;
                const size_t bytes = size_of(s, me, to, k);
                s->to[c->ndestinations++] = (dcoll_block_t){to, begin, bytes};
                s->sent = begin + bytes + GAP;
            }
            if (k < s->graph->edges(from, me)) {
                const size_t bytes = size_of(s, from, me, k);
                s->from[c->nsources++] =
                    (dcoll_block_t){from, s->received, bytes};
                s->received += bytes + GAP;
            }
        }
    c->send = s->send = realloc(s->send, s->sent);
    c->recv = s->recv = realloc(s->recv, s->received);
    check(s->send && s->recv);
}

/* The number of the block among those with this rank. */
static unsigned nth(const dcoll_block_t *list, unsigned i)
{
    unsigned k = 0;
    for (unsigned before = 0; before < i; before++)
        k += list[before].rank == list[i].rank;
    return k;
}

static void fill(const struct scene *s, unsigned start)
{
    for (unsigned b = 0; b < s->call.ndestinations; b++)
        for (size_t i = 0; i < s->to[b].bytes; i++)
            s->send[s->to[b].begin + i] =
                content(s, s->r->rank, s->to[b].rank, nth(s->to, b), i, start);
    memset(s->recv, 0xee, s->received);
}

static bool is_blank(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != 0xee)
            return false;
    return true;
}

static void check_received(const struct scene *s, unsigned start)
{
    size_t end = 0;
    for (unsigned b = 0; b < s->call.nsources; b++) {
        const dcoll_block_t *from = &s->from[b];
        check(is_blank(s->recv + end, from->begin - end));
        for (size_t i = 0; i < from->bytes; i++)
            check(s->recv[from->begin + i] == content(s, from->rank, s->r->rank,
                                                      nth(s->from, b), i,
                                                      start));
        end = from->begin + from->bytes;
    }
    check(is_blank(s->recv + end, s->received - end));
}

/* ----------------------------------------------------------------- right */

static void run_blocking(struct scene *s)
{
    for (unsigned start = 0; start < STARTS; start++) {
        fill(s, start);
        team_good(s->r, s->team, dcoll_neighbor_alltoallv(s->team, &s->call),
                  s->graph->name);
        check_received(s, start);
    }
}

/* The caller may change the lists at once. */
static void run_begun(struct scene *s)
{
    for (unsigned start = 0; start < STARTS; start++) {
        dcoll_request_t *q;
        dcoll_block_t to[BLOCKS], from[BLOCKS];
        dcoll_neighbor_alltoallv_t c = s->call;
        memcpy(to, s->to, sizeof to);
        memcpy(from, s->from, sizeof from);
        c.destinations = to;
        c.sources = from;
        fill(s, start);
        team_good(s->r, s->team,
                  dcoll_neighbor_alltoallv_begin(s->team, &c, &q),
                  s->graph->name);
        memset(to, 0xff, sizeof to);
        memset(from, 0xff, sizeof from);
        team_good(s->r, s->team, dcoll_wait(q, -1), s->graph->name);
        check_received(s, start);
    }
}

static void run_persistent(struct scene *s)
{
    dcoll_request_t *q;
    team_good(s->r, s->team,
              dcoll_neighbor_alltoallv_init(s->team, &s->call, &q),
              s->graph->name);
    for (unsigned start = 0; start < STARTS; start++) {
        fill(s, start);
        team_good(s->r, s->team, dcoll_start(q), s->graph->name);
        team_good(s->r, s->team, dcoll_wait(q, -1), s->graph->name);
        check_received(s, start);
    }
    barrier(s->r);
    team_good(s->r, s->team, dcoll_free(q), s->graph->name);
}

static void scene_open(struct scene *s, struct rank *r)
{
    *s = (struct scene){.r = r, .graph = graphs, .scale = 1};
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &s->team, NULL));
    make_lists(s);
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
    free(s->send);
    free(s->recv);
}

/* Long blocks are read where they are, or written there. */
static void graphs_of_all_forms(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    for (unsigned g = 0; g < sizeof graphs / sizeof *graphs; g++)
        for (s.scale = 1; s.scale <= 3001; s.scale += 3000) {
            s.graph = &graphs[g];
            make_lists(&s);
            run_blocking(&s);
            run_begun(&s);
            run_persistent(&s);
        }
    scene_close(&s);
}

/* -------------------------------------------------------- packed blocks */

static bool freed_too_early; /* memory that peers may access */
static unsigned long_regions;

/* The memory must be there until its registration ends. */
STAND_IN DAT_RETURN dat_lmr_free(DAT_LMR_HANDLE lmr)
{
    DAT_LMR_PARAM p;
    unsigned char in_core;
    if (!dat_lmr_query(lmr, DAT_LMR_FIELD_ALL, &p) &&
        p.registered_size > PACKED) {
        void *page = (void *)(uintptr_t)(p.registered_address & -PAGE);
        freed_too_early |= mincore(page, 1, &in_core) && errno == ENOMEM;
        long_regions++;
    }
    return real(dat_lmr_free)(lmr);
}

/* Blocks of a rank that do not follow each other are packed; rails write to
 * that memory, and read from it. */
static void packed_stay(struct rank *r)
{
    struct scene s;
    mallopt(M_MMAP_THRESHOLD, PACKED); /* what is freed is unmapped */
    scene_open(&s, r);
    s.graph = &graphs[1];
    s.scale = PACKED;
    make_lists(&s);
    s.call.algorithm = "direct";
    run_blocking(&s);
    run_begun(&s);
    run_persistent(&s);
    check(long_regions);
    check(!freed_too_early);
    scene_close(&s);
}

/* ----------------------------------------------------------------- wrong */

/* Changes the ring of the rank that is wrong. */
typedef void spoil_t(struct scene *s);

static void no_rank(struct scene *s)
{
    s->to[0].rank = RANKS;
}

static void negative_rank(struct scene *s)
{
    s->from[0].rank = (unsigned)-1;
}

static void negative_bytes(struct scene *s)
{
    s->to[0].bytes = (size_t)-1;
}

static void too_many_together(struct scene *s)
{
    s->from[0].bytes = UINT32_MAX;
    s->from[1] = (dcoll_block_t){s->from[0].rank, 0, 1};
    s->call.nsources = 2;
}

static void far_begin(struct scene *s)
{
    s->to[0].begin = PTRDIFF_MAX;
}

static void null_send(struct scene *s)
{
    s->call.send = NULL;
}

static void null_recv(struct scene *s)
{
    s->call.recv = NULL;
}

static void in_place(struct scene *s)
{
    s->call.send = DCOLL_IN_PLACE;
}

static void null_list(struct scene *s)
{
    s->call.sources = NULL;
}

static void overlap(struct scene *s)
{
    s->from[1] = s->from[0];
    s->from[0].bytes = 1;
    s->from[1].rank = s->r->rank;
    s->call.nsources = 2;
}

static const struct {
    spoil_t *spoil;
    const char *text;
} wrong[] = {
    {no_rank, "rank 1: destinations[0].rank is 4: allowed are 0…3"},
    {negative_rank, "rank 1: sources[0].rank is -1: allowed are 0…3"},
    {negative_bytes, "rank 1: destinations[0].bytes is -1: allowed are"},
    {too_many_together, "rank 1: sources[1].bytes is 1: allowed are"},
    {far_begin, "rank 1: destinations[0].begin is"},
    {null_send, "rank 1: send is NULL, but destinations[0] has"},
    {null_recv, "rank 1: recv is NULL, but sources[0] has"},
    {in_place, "rank 1: send is DCOLL_IN_PLACE, but"},
    {null_list, "rank 1: sources is NULL, but has 1 blocks"},
    {overlap, "rank 1: sources[0] and sources[1] overlap"},
};

static int make(const struct scene *s, enum form form)
{
    dcoll_request_t *q;
    if (form == BLOCKING)
        return dcoll_neighbor_alltoallv(s->team, &s->call);
    if (form == PERSISTENT)
        return dcoll_neighbor_alltoallv_init(s->team, &s->call, &q);
    int rc = dcoll_neighbor_alltoallv_begin(s->team, &s->call, &q);
    return rc ? rc : dcoll_wait(q, -1);
}

/* No more than that error: the team goes on. */
static void works(struct scene *s)
{
    check(is_blank(s->recv, s->received));
    check(!dcoll_team_error(s->team));
    make_lists(s);
    run_blocking(s);
}

static void wrong_on_one(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    for (enum form form = 0; form < FORMS; form++)
        for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            fill(&s, 0);
            if (r->rank == 1)
                wrong[i].spoil(&s);
            team_fails(r, s.team, make(&s, form), DRAIL_EINVAL,
                       r->rank == 1 ? wrong[i].text : "rank 1");
            works(&s);
        }
    scene_close(&s);
}

/* Rank 2 gets what it does not expect, or not what it expects. All ranks notice
 * if they agree on what they exchange. */
static void asymmetric(struct rank *r)
{
    struct scene s;
    scene_open(&s, r);
    const bool several = dcoll_team_shape(s.team)->nnodes > 1;
    for (enum form form = 0; form < FORMS; form++)
        for (unsigned missing = 0; missing < 3; missing++) {
            const bool agree = several || form == PERSISTENT;
            fill(&s, 0);
            if (missing == 2 && r->rank == 2)
                s.from[0].bytes++; /* of rank 1; there is a gap */
            else if (missing < 2 && r->rank == 2 - missing)
                *(missing ? &s.call.ndestinations : &s.call.nsources) = 0;
            int rc = make(&s, form);
            if (r->rank == 2)
                team_fails(r, s.team, rc, DRAIL_EINVAL,
                           "bytes of rank 1, but rank 1 has");
            else if (agree)
                team_fails(r, s.team, rc, DRAIL_EINVAL, "rank 2");
            else
                team_good(r, s.team, rc, "of another rank");
            if (r->rank != 2 && !agree)
                memset(s.recv, 0xee, s.received);
            works(&s);
        }
    scene_close(&s);
}

static const struct test tests[] = {
    {"graphs, within a node", RANKS, graphs_of_all_forms, NULL, PPN(RANKS)},
    {"graphs, between nodes", RANKS, graphs_of_all_forms, NULL, PPN(2)},
    {"packed blocks stay", RANKS, packed_stay, NULL, PPN(2)},
    {"a rank is wrong, within a node", RANKS, wrong_on_one, NULL, PPN(RANKS)},
    {"a rank is wrong, between nodes", RANKS, wrong_on_one, NULL, PPN(2)},
    {"ranks differ, within a node", RANKS, asymmetric, NULL, PPN(RANKS)},
    {"ranks differ, between nodes", RANKS, asymmetric, NULL, PPN(2)},
};

RUN_TESTS(tests)
