/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all over real rails: every algorithm, every kind of call,
 * traffic of all patterns; then what must fail.
 */
#include "team.h"

/* Bounds, to ask whether an algorithm serves a shape. */
static const dcoll_traffic_t few = {
    .element = 1, .max_pair = 1, .max_rank = 1, .labelled = true};

#define MOST 23 /* elements for one rank, in most patterns */

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    size_t *counts; /* from · n + to */
    size_t *displs, *sources, *found;
    unsigned char *send, *recv;
    size_t element, room; /* room: elements of each buffer */
};

static void good(struct scene *s, int rc, const char *what)
{
    team_good(s->r, s->team, rc, what);
}

static void *zeroed(size_t count, size_t size)
{
    void *p = calloc(count, size);
    check(p);
    return p;
}

static void scene_open(struct scene *s, struct rank *r, size_t element)
{
    size_t n = r->size;
    drail_error_t err = {0};
    *s = (struct scene){.r = r, .element = element, .room = 2 * n * MOST};
    int rc = dcoll_team_create(r->job, r->t, NULL, &s->team, &err);
    if (rc)
        printf("# rank %u: %s\n", r->rank, err.text);
    check(rc == 0);
    s->counts = zeroed(n * n, sizeof *s->counts);
    s->displs = zeroed(n, sizeof *s->displs);
    s->sources = zeroed(n, sizeof *s->sources);
    s->found = zeroed(n, sizeof *s->found);
    s->send = zeroed(s->room, element);
    s->recv = zeroed(s->room + 1, element);
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
    free(s->counts);
    free(s->displs);
    free(s->sources);
    free(s->found);
    free(s->send);
    free(s->recv);
}

/* ------------------------------------------------------------ contents --- */

/* The same on all ranks. */
static size_t drawn(unsigned pattern, unsigned start, unsigned from,
                    unsigned to, unsigned n)
{
    uint64_t x = (pattern + 1) * 7919 + start * 104729 + from * 1299709 + to;
    x = (x + 1) * 0x9e3779b97f4a7c15ull;
    x ^= x >> 29;
    switch (pattern) {
    case 0: /* nothing */
        return 0;
    case 1: /* one spike */
        return to == (from * 5 + start) % n ? MOST : 1;
    case 2: /* all to one */
        return to == start % n ? MOST : 0;
    case 3: /* from one */
        return from == start % n ? MOST : 0;
    case 4: /* sparse */
        return x % 5 ? 0 : x / 5 % MOST;
    default:
        return x % (MOST + 1);
    }
}

#define PATTERNS 6

static size_t count_of(const struct scene *s, unsigned from, unsigned to)
{
    return s->counts[from * s->r->size + to];
}

static unsigned char content(unsigned start, unsigned from, unsigned to,
                             size_t number, size_t i)
{
    uint64_t x = start * 1000003u + from * 10007u + to * 101u + number * 31u;
    return (unsigned char)((x + i) * 0x9e3779b97f4a7c15ull >> 56);
}

static void draw(struct scene *s, unsigned pattern, unsigned start)
{
    unsigned n = s->r->size;
    for (unsigned from = 0; from < n; from++)
        for (unsigned to = 0; to < n; to++)
            s->counts[from * n + to] = drawn(pattern, start, from, to, n);
}

/* Elements with their labels, one destination after the other, the last first
 * if places are given. */
static void fill(struct scene *s, unsigned start, bool backwards)
{
    unsigned n = s->r->size, me = s->r->rank;
    size_t at = 0;
    for (unsigned k = 0; k < n; k++) {
        unsigned to = backwards ? n - 1 - k : k;
        s->displs[to] = at;
        for (size_t e = 0; e < count_of(s, me, to); e++, at++)
            for (size_t i = 0; i < s->element; i++)
                s->send[at * s->element + i] = content(start, me, to, e, i);
    }
    size_t begin = backwards ? 1 : 0; /* a hole in front */
    for (unsigned k = 0; k < n; k++) {
        unsigned from = backwards ? n - 1 - k : k;
        s->sources[from] = begin;
        begin += count_of(s, from, me);
    }
    memset(s->recv, 0xa5, (s->room + 1) * s->element);
}

static void check_received(const struct scene *s, unsigned start)
{
    unsigned n = s->r->size, me = s->r->rank;
    for (unsigned from = 0; from < n; from++)
        for (size_t e = 0; e < count_of(s, from, me); e++)
            for (size_t i = 0; i < s->element; i++) {
                size_t at = (s->sources[from] + e) * s->element + i;
                check(s->recv[at] == content(start, from, me, e, i));
            }
}

/* --------------------------------------------------------------- calls --- */

static dcoll_alltoallv_t call_of(struct scene *s, const char *algorithm)
{
    return (dcoll_alltoallv_t){
        .send = s->send,
        .send_counts = s->counts + s->r->rank * s->r->size,
        .recv = s->recv,
        .room = s->room,
        .found = s->found,
        .element = s->element,
        .algorithm = algorithm,
    };
}

static void column(const struct scene *s, size_t *counts)
{
    for (unsigned from = 0; from < s->r->size; from++)
        counts[from] = count_of(s, from, s->r->rank);
}

static void check_found(const struct scene *s)
{
    for (unsigned from = 0; from < s->r->size; from++)
        check(s->found[from] == count_of(s, from, s->r->rank));
}

static void run_blocking(struct scene *s, const char *name)
{
    size_t *expected = zeroed(s->r->size, sizeof *expected);
    for (unsigned p = 0; p < PATTERNS; p++)
        for (unsigned known = 0; known < 2; known++) {
            dcoll_alltoallv_t c = call_of(s, name);
            draw(s, p, p);
            fill(s, p, known);
            column(s, expected);
            if (known) {
                c.send_displs = s->displs;
                c.recv_counts = expected;
                c.recv_displs = s->sources;
            }
            good(s, dcoll_alltoallv(s->team, &c), name);
            check_received(s, p);
            check_found(s);
        }
    free(expected);
}

static void run_persistent(struct scene *s, const char *name, unsigned starts)
{
    dcoll_request_t *q;
    dcoll_alltoallv_t c = call_of(s, name);
    size_t *expected = zeroed(s->r->size, sizeof *expected);
    c.max_pair = MOST;
    c.max_rank = s->r->size * MOST;
    if (starts % 2)
        c.recv_counts = expected;
    good(s, dcoll_alltoallv_init(s->team, &c, &q), name);
    for (unsigned start = 0; start < starts; start++) {
        draw(s, start % PATTERNS, start);
        fill(s, start, false);
        column(s, expected);
        good(s, dcoll_start(q), name);
        good(s, dcoll_wait(q, -1), name);
        check_received(s, start);
        check_found(s);
    }
    good(s, dcoll_free(q), name);
    free(expected);
}

static void run_begun(struct scene *s, const char *name)
{
    dcoll_request_t *q;
    dcoll_alltoallv_t c = call_of(s, name);
    int rc;
    draw(s, PATTERNS - 1, 77);
    fill(s, 77, false);
    good(s, dcoll_alltoallv_begin(s->team, &c, &q), name);
    while ((rc = dcoll_test(q)) == DRAIL_EAGAIN)
        ;
    good(s, rc, name);
    check_received(s, 77);
}

/* ------------------------------------------------------------ elements --- */

struct element {
    unsigned char odd[3]; /* so that the destination is not aligned */
    unsigned char to[4];
    uint32_t from, number;
    unsigned char rest[6];
} __attribute__((packed));

static struct element element_of(unsigned from, uint32_t to, uint32_t number)
{
    struct element e = {.from = from, .number = number};
    memcpy(e.to, &to, sizeof to);
    memset(e.rest, (int)(from + to + number), sizeof e.rest);
    return e;
}

/* All from each rank once, in whatever order. */
static void check_elements(const struct scene *s, size_t received)
{
    const struct element *got = (const struct element *)s->recv;
    unsigned n = s->r->size;
    bool *seen = zeroed(n * MOST, sizeof *seen);
    size_t expected = 0;
    for (unsigned from = 0; from < n; from++)
        expected += count_of(s, from, s->r->rank);
    check(received == expected);
    for (size_t i = 0; i < received; i++) {
        struct element want =
            element_of(got[i].from, s->r->rank, got[i].number);
        check(got[i].from < n && got[i].number < MOST);
        check(!memcmp(&got[i], &want, sizeof want));
        check(!seen[got[i].from * MOST + got[i].number]);
        seen[got[i].from * MOST + got[i].number] = true;
    }
    free(seen);
}

static size_t scatter_elements(struct scene *s)
{
    struct element *send = (struct element *)s->send;
    unsigned n = s->r->size;
    size_t count = 0;
    for (uint32_t number = 0; number < MOST; number++)
        for (uint32_t to = 0; to < n; to++)
            if (number < count_of(s, s->r->rank, to))
                send[count++] = element_of(s->r->rank, to, number);
    return count;
}

static void run_elements(struct scene *s, const char *name)
{
    dcoll_request_t *q;
    size_t received = 0, count;
    dcoll_elements_t c = {
        .send = s->send,
        .recv = s->recv,
        .room = s->room,
        .received = &received,
        .element = sizeof(struct element),
        .destination = offsetof(struct element, to),
        .algorithm = name,
    };
    for (unsigned p = 0; p < PATTERNS; p++) {
        draw(s, p, p);
        c.count = scatter_elements(s);
        good(s, dcoll_alltoall_elements(s->team, &c), name);
        check_elements(s, received);
    }
    c.max_pair = MOST;
    c.max_rank = s->r->size * MOST;
    good(s, dcoll_elements_init(s->team, &c, &count, &q), name);
    for (unsigned start = 0; start < PATTERNS; start++) {
        draw(s, start, start);
        count = scatter_elements(s);
        good(s, dcoll_start(q), name);
        good(s, dcoll_wait(q, -1), name);
        check_elements(s, received);
    }
    good(s, dcoll_free(q), name);
}

/* Any number of ranks: a few algorithms each, in turn, and what is for several
 * nodes; several starts of what comes from, and goes to, other ranks each
 * time. */
static void some_algorithms(struct rank *r)
{
    struct scene s;
    unsigned index = r->size;
    scene_open(&s, r, sizeof(struct element));
    const dcoll_args_t args = {.traffic = &few};
    const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
    for (; *a; a++) {
        if (dcoll_refusal(*a, dcoll_team_shape(s.team), &args) ||
            (index++ % 4 && strcmp((*a)->name, "smp-alltoallv")))
            continue;
        run_begun(&s, (*a)->name);
        run_persistent(&s, (*a)->name, 3);
    }
    scene_close(&s);
}

static void every_algorithm(struct rank *r)
{
    struct scene s;
    unsigned done = 0;
    scene_open(&s, r, sizeof(struct element));
    const dcoll_args_t args = {.traffic = &few};
    const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
    for (; *a; a++) {
        if (dcoll_refusal(*a, dcoll_team_shape(s.team), &args))
            continue;
        run_blocking(&s, (*a)->name);
        run_persistent(&s, (*a)->name, 2 * PATTERNS);
        run_begun(&s, (*a)->name);
        if (!(*a)->placed)
            run_elements(&s, (*a)->name);
        done++;
    }
    check(done > 10);
    run_blocking(&s, NULL);
    scene_close(&s);
}

/* Some parts are longer than what goes through shared memory. */
static void large_elements(struct rank *r)
{
    static const char *const names[] = {"shm-alltoallv", "direct", "a1-n2",
                                        "mesh",          "a4-n2",  NULL};
    struct scene s;
    scene_open(&s, r, 3001);
    for (const char *const *a = names; *a; a++) {
        const char *name = *a; /* the first one is for one node */
        if (a == names && dcoll_team_shape(s.team)->nnodes > 1)
            name = "smp-alltoallv";
        run_blocking(&s, name);
        run_persistent(&s, name, PATTERNS);
        run_begun(&s, name);
    }
    scene_close(&s);
}

/* --------------------------------------------------------- what must fail */

static void fails(struct scene *s, int rc, int want, const char *text)
{
    team_fails(s->r, s->team, rc, want, text);
}

static bool untouched(const struct scene *s)
{
    for (size_t i = 0; i < s->room * s->element; i++)
        if (s->recv[i] != 0xa5)
            return false;
    return true;
}

/* A schedule of other counts for each call; then the same counts again. It has
 * none for bounds. */
static void planned_by_counts(struct rank *r)
{
    static const size_t elements[] = {17, 3001, 20011};
    for (unsigned i = 0; i < 3; i++) {
        struct scene s;
        scene_open(&s, r, elements[i]);
        run_blocking(&s, "birkhoff");
        run_blocking(&s, "birkhoff");
        run_begun(&s, "birkhoff");
        dcoll_alltoallv_t c = call_of(&s, "birkhoff");
        c.max_pair = c.max_rank = s.room;
        fails(&s, dcoll_alltoallv(s.team, &c), DRAIL_ENOTSUP,
              "birkhoff: it needs the counts of all ranks");
        scene_close(&s);
    }
}

/* An error of a rank is an error of all. It names the cause where that is
 * known, and leaves the team as it was. */
static void bad_counts_by(struct rank *r, const char *algorithm)
{
    struct scene s;
    scene_open(&s, r, 17);
    bool mine = r->rank == 1;
    size_t *expected = zeroed(r->size, sizeof *expected);
    const dcoll_alltoallv_t right = call_of(&s, algorithm);
    dcoll_alltoallv_t c;
    draw(&s, PATTERNS - 1, 5);
    s.counts[0 * r->size + 1] = 4;
    s.counts[2 * r->size + 1] = 3;
    fill(&s, 5, false);

    size_t kept = s.counts[r->size + 2];
    s.counts[r->size + 2] = (size_t)-3;
    c = right;
    fails(&s, dcoll_alltoallv(s.team, &c), DRAIL_EINVAL,
          mine ? "rank 1: send_counts[2] is -3" : "rank 1");
    s.counts[r->size + 2] = kept;

    column(&s, expected);
    c.recv_counts = expected;
    expected[0] += mine ? 2 : 0;
    int rc = dcoll_alltoallv(s.team, &c);
    if (mine)
        fails(&s, rc, DRAIL_EINVAL, "rank 1: recv_counts[0] is 6, but rank 0");
    check(!mine || untouched(&s));
    expected[0] -= mine ? 2 : 0;
    memset(s.recv, 0xa5, s.room * s.element);

    c.recv_displs = s.sources;
    kept = s.sources[2];
    s.sources[2] = s.sources[0] + 1;
    fails(&s, dcoll_alltoallv(s.team, &c), DRAIL_EINVAL,
          mine ? "recv_displs[0] and recv_displs[2] overlap" : NULL);
    check(untouched(&s));
    s.sources[2] = kept;

    c = right;
    if (mine)
        c.room = 1;
    rc = dcoll_alltoallv(s.team, &c);
    if (mine)
        fails(&s, rc, DRAIL_EINVAL, "rank 1: recv has room for 1 elements");
    check(!mine || untouched(&s));
    c = right;
    if (mine)
        c.element = 16;
    fails(&s, dcoll_alltoallv(s.team, &c), DRAIL_EINVAL, "16");

    good(&s, dcoll_alltoallv(s.team, &right), "after errors");
    check_received(&s, 5);
    free(expected);
    scene_close(&s);
}

static void bad_counts(struct rank *r)
{
    bad_counts_by(r, "auto");
}

static void bad_counts_agreed(struct rank *r)
{
    bad_counts_by(r, "a4");
}

static void bad_counts_nodes(struct rank *r)
{
    bad_counts_by(r, "smp-alltoallv");
}

static void bad_counts_direct(struct rank *r)
{
    bad_counts_by(r, "direct");
}

static void bad_counts_planned(struct rank *r)
{
    bad_counts_by(r, "birkhoff");
}

static void bad_destination(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, sizeof(struct element));
    draw(&s, 1, 0);
    dcoll_elements_t c = {.send = s.send,
                          .recv = s.recv,
                          .room = s.room,
                          .count = scatter_elements(&s),
                          .element = sizeof(struct element),
                          .destination = offsetof(struct element, to)};
    struct element *second = (struct element *)s.send + 1;
    if (r->rank == 2)
        second->to[1] = 1;
    fails(&s, dcoll_alltoall_elements(s.team, &c), DRAIL_EINVAL,
          r->rank == 2 ? "rank 2: the destination of element 1 is 25"
                       : "rank 2");
    second->to[1] = 0;
    c.destination = sizeof(struct element) - 3;
    fails(&s, dcoll_alltoall_elements(s.team, &c), DRAIL_EINVAL,
          "it has 4 bytes");
    scene_close(&s);
}

/* Beyond the bounds of a persistent request: only this rank is told, and can
 * start it with other counts. */
static void beyond_bounds(struct rank *r)
{
    struct scene s;
    dcoll_request_t *q;
    scene_open(&s, r, 17);
    dcoll_alltoallv_t c = call_of(&s, "a4-n1");
    fails(&s, dcoll_alltoallv_init(s.team, &c, &q), DRAIL_EINVAL,
          "a persistent request needs both");
    c.max_pair = 5;
    fails(&s, dcoll_alltoallv_init(s.team, &c, &q), DRAIL_EINVAL, "max_rank 0");
    c.max_rank = 10;
    good(&s, dcoll_alltoallv_init(s.team, &c, &q), "init");
    draw(&s, 0, 0);
    size_t *mine = s.counts + r->rank * r->size;
    mine[1] = 6;
    fails(&s, dcoll_start(q), DRAIL_EINVAL, "send_counts[1] is 6: the bound");
    mine[0] = mine[1] = mine[2] = 4;
    fails(&s, dcoll_start(q), DRAIL_EINVAL, "12 elements to send: the bound");
    draw(&s, 1, 0);
    for (unsigned i = 0; i < r->size * r->size; i++)
        s.counts[i] = s.counts[i] > 3 ? 3 : s.counts[i];
    fill(&s, 0, false);
    good(&s, dcoll_start(q), "start");
    good(&s, dcoll_wait(q, -1), "wait");
    check_received(&s, 0);
    good(&s, dcoll_free(q), "free");
    scene_close(&s);
}

/* Many ranks on few cores, which others use, too. */
static void patient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 60000;
}

static const struct test tests[] = {
    {"one rank", 1, every_algorithm, NULL, APART},
    {"two ranks", 2, every_algorithm, NULL, APART},
    {"three ranks", 3, every_algorithm, NULL, APART},
    {"four ranks", 4, some_algorithms, NULL, APART},
    {"five ranks on nodes of two", 5, every_algorithm, NULL, APART | PPN(2)},
    {"six ranks on nodes of four", 6, some_algorithms, NULL, APART | PPN(4)},
    {"seven ranks", 7, some_algorithms, NULL, APART},
    {"eight ranks on nodes of two", 8, some_algorithms, NULL, APART | PPN(2)},
    {"nine ranks", 9, some_algorithms, patient, APART},
    {"ten ranks", 10, some_algorithms, patient, APART},
    {"eleven ranks on nodes of four", 11, some_algorithms, patient,
     APART | PPN(4)},
    {"twelve ranks", 12, some_algorithms, patient, APART},
    {"13 ranks on nodes of five", 13, some_algorithms, patient, APART | PPN(5)},
    {"14 ranks", 14, some_algorithms, patient, APART},
    {"15 ranks", 15, some_algorithms, patient, APART},
    {"16 ranks on nodes of four", 16, some_algorithms, patient, APART | PPN(4)},
    {"large elements", 4, large_elements, NULL, APART},
    {"large elements on nodes of two", 4, large_elements, NULL, APART | PPN(2)},
    {"planned by counts", 5, planned_by_counts, NULL, APART | PPN(2)},
    {"planned by counts, nodes of one rank", 4, planned_by_counts, NULL,
     APART | PPN(1)},
    {"bad counts", 3, bad_counts, NULL, APART},
    {"bad counts, agreed", 3, bad_counts_agreed, NULL, APART},
    {"bad counts, on nodes of two", 3, bad_counts, NULL, APART | PPN(2)},
    {"bad counts, between nodes", 3, bad_counts_nodes, NULL, APART | PPN(2)},
    {"bad counts, told by all", 3, bad_counts_direct, NULL, APART},
    {"bad counts, told between nodes", 3, bad_counts_direct, NULL,
     APART | PPN(2)},
    {"bad counts, planned by counts", 3, bad_counts_planned, NULL,
     APART | PPN(2)},
    {"a bad destination", 3, bad_destination, NULL, APART},
    {"beyond a request's bounds", 3, beyond_bounds, NULL, APART},
};

RUN_TESTS(tests)
