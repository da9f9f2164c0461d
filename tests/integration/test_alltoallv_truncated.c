/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank receives more or fewer elements than it expects or has room for: only
 * this rank gets an error, and its recv is not written. The other ranks get all
 * their elements, and the team goes on. For each algorithm, and each rank in
 * turn.
 */
#include "coll/dcoll.h"
#include "ranks.h"

enum { MOST = 11, MANY = 24, ROOM = MOST * MANY };

struct element {
    uint32_t to, from, number;
};

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned n, victim;
    size_t send_counts[MOST], recv_counts[MOST], found[MOST];
    struct element send[ROOM], recv[ROOM];
};

static void scene_open(struct scene *s, struct rank *r)
{
    drail_error_t err = {0};
    *s = (struct scene){.r = r, .n = r->size};
    int rc = dcoll_team_create(r->job, r->t, NULL, &s->team, &err);
    if (rc)
        printf("# rank %u: %s\n", r->rank, err.text);
    check(rc == 0);
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
}

/* From each rank to each: one for most of them, or two, and more for one. */
static size_t count_of(const struct scene *s, unsigned from, unsigned to,
                       size_t more)
{
    return to == s->victim ? more : 1 + (from + to) % 2;
}

/* Each rank sends so much if rank `one` gets `more` from each. */
static void fill(struct scene *s, size_t more)
{
    size_t at = 0;
    for (unsigned to = 0; to < s->n; to++) {
        s->send_counts[to] = count_of(s, s->r->rank, to, more);
        s->recv_counts[to] = count_of(s, to, s->r->rank, more);
        for (uint32_t i = 0; i < s->send_counts[to]; i++)
            s->send[at++] = (struct element){to, s->r->rank, i};
    }
    memset(s->recv, 0xa5, sizeof s->recv);
}

static dcoll_alltoallv_t counted(struct scene *s, const char *algorithm)
{
    return (dcoll_alltoallv_t){.send = s->send,
                               .send_counts = s->send_counts,
                               .recv = s->recv,
                               .recv_counts = s->recv_counts,
                               .found = s->found,
                               .element = sizeof(struct element),
                               .max_pair = MANY,
                               .max_rank = 2 * s->n + MANY,
                               .algorithm = algorithm};
}

static bool untouched(const struct scene *s)
{
    const unsigned char *at = (const unsigned char *)s->recv;
    for (size_t i = 0; i < sizeof s->recv; i++)
        if (at[i] != 0xa5)
            return false;
    return true;
}

static void complain(const struct scene *s, const char *name, int rc,
                     const char *text)
{
    printf("# %s, %u ranks, of rank %u: rank %u: %d (%s): \"%s\" has no "
           "\"%s\"\n",
           name, s->n, s->victim, s->r->rank, rc, drail_strerror(rc),
           dcoll_last_error(s->team), text);
    fflush(stdout);
    _exit(1);
}

static void good(const struct scene *s, const char *name, int rc)
{
    if (rc)
        complain(s, name, rc, "no error");
}

/* All that is for it, in the order of the senders. */
static void check_received(const struct scene *s, size_t more)
{
    size_t at = 0;
    for (uint32_t from = 0; from < s->n; from++) {
        size_t count = count_of(s, from, s->r->rank, more);
        for (uint32_t i = 0; i < count; i++, at++)
            check(s->recv[at].to == s->r->rank && s->recv[at].from == from &&
                  s->recv[at].number == i);
    }
}

/* The error is the victim's. */
static void judge(const struct scene *s, const char *name, int rc, size_t more,
                  const char *text)
{
    if (s->r->rank != s->victim) {
        good(s, name, rc);
        check_received(s, more);
        return;
    }
    if (rc != DRAIL_EINVAL || !strstr(dcoll_last_error(s->team), text))
        complain(s, name, rc, text);
    check(untouched(s));
}

static void works(struct scene *s, const char *name)
{
    fill(s, 2);
    dcoll_alltoallv_t c = counted(s, name);
    good(s, name, dcoll_alltoallv(s->team, &c));
    check_received(s, 2);
}

/* ------------------------------------------------------ other counts --- */

/* A rank expects an element more, or less, than the rank behind, or before, has
 * for it. */
static void expect_otherwise(struct scene *s, const char *name)
{
    char text[96];
    unsigned from = (s->victim + (s->victim % 2 ? 1 : s->n - 1)) % s->n;
    fill(s, 2);
    if (s->r->rank == s->victim)
        s->recv_counts[from] = s->victim % 2 ? 3 : 1;
    snprintf(text, sizeof text, "recv_counts[%u] is %u, but rank %u has", from,
             s->victim % 2 ? 3 : 1, from);
    dcoll_alltoallv_t c = counted(s, name);
    judge(s, name, dcoll_alltoallv(s->team, &c), 2, text);
}

/* Found, and too much. */
static void lack_room(struct scene *s, const char *name)
{
    char text[64];
    fill(s, 2);
    dcoll_alltoallv_t c = counted(s, name);
    c.recv_counts = NULL;
    c.room = s->r->rank == s->victim ? 2 * s->n - 1 : ROOM;
    snprintf(text, sizeof text, "room for %u elements, but %u have come",
             2 * s->n - 1, 2 * s->n);
    judge(s, name, dcoll_alltoallv(s->team, &c), 2, text);
}

/* Each start of a request has an error of its own, or none. */
static void start_otherwise(struct scene *s, const char *name)
{
    dcoll_request_t *q;
    dcoll_alltoallv_t c = counted(s, name);
    fill(s, 2);
    good(s, name, dcoll_alltoallv_init(s->team, &c, &q));
    for (unsigned start = 0; start < 4; start++) {
        unsigned from = (s->victim + 1) % s->n;
        bool wrong = start % 2;
        fill(s, 2);
        if (s->r->rank == s->victim)
            s->recv_counts[from] += wrong;
        good(s, name, dcoll_start(q));
        int rc = dcoll_wait(q, -1);
        if (wrong) {
            judge(s, name, rc, 2, "recv_counts");
        } else {
            good(s, name, rc);
            check_received(s, 2);
        }
    }
    good(s, name, dcoll_free(q));
}

/* --------------------------------------------------------- too much --- */

static void take_too_much(struct scene *s, const char *name)
{
    fill(s, MANY);
    dcoll_alltoallv_t c = counted(s, name);
    c.recv_counts = NULL;
    c.room = ROOM;
    judge(s, name, dcoll_alltoallv(s->team, &c), MANY, "the bound max_rank");
}

static void check_elements(const struct scene *s, size_t received)
{
    size_t of[MOST] = {0}, all = 0;
    for (unsigned from = 0; from < s->n; from++)
        all += count_of(s, from, s->r->rank, MANY);
    check(received == all);
    for (size_t i = 0; i < received; i++) {
        check(s->recv[i].to == s->r->rank && s->recv[i].from < s->n);
        of[s->recv[i].from]++;
    }
    for (unsigned from = 0; from < s->n; from++)
        check(of[from] == count_of(s, from, s->r->rank, MANY));
}

/* The same without counts and order. */
static void take_too_many_elements(struct scene *s, const char *name)
{
    size_t received = 0;
    fill(s, MANY);
    dcoll_elements_t c = {.send = s->send,
                          .recv = s->recv,
                          .room = ROOM,
                          .received = &received,
                          .element = sizeof(struct element),
                          .max_pair = MANY,
                          .max_rank = 2 * s->n + MANY,
                          .algorithm = name};
    for (unsigned to = 0; to < s->n; to++)
        c.count += s->send_counts[to];
    int rc = dcoll_alltoall_elements(s->team, &c);
    if (s->r->rank == s->victim) {
        judge(s, name, rc, MANY, "the bound max_rank");
    } else {
        good(s, name, rc);
        check_elements(s, received);
    }
}

/* ------------------------------------------------------------ each one --- */

static bool serves(const struct scene *s, const dcoll_algorithm_t *a,
                   bool counts)
{
    const dcoll_traffic_t t = {.element = sizeof(struct element),
                               .max_pair = MANY,
                               .max_rank = MANY,
                               .labelled = counts};
    const dcoll_args_t args = {.collective = DCOLL_ALLTOALLV, .traffic = &t};
    return !dcoll_refusal(a, dcoll_team_shape(s->team), &args);
}

static void every(struct rank *r, bool counts,
                  void (*f)(struct scene *s, const char *name))
{
    struct scene s;
    unsigned done = 0, step = r->size > 9 ? 3 : 1;
    scene_open(&s, r);
    const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
    for (; *a; a++) {
        for (s.victim = 0; serves(&s, *a, counts) && s.victim < s.n;
             s.victim += step) {
            f(&s, (*a)->name);
            works(&s, (*a)->name);
            done++;
        }
    }
    check(done > 10 * (s.n / step));
    scene_close(&s);
}

static void other_counts(struct rank *r)
{
    every(r, true, expect_otherwise);
}

static void no_room(struct rank *r)
{
    every(r, true, lack_room);
}

static void starts(struct rank *r)
{
    every(r, true, start_otherwise);
}

static void too_much(struct rank *r)
{
    every(r, true, take_too_much);
}

static void too_many_elements(struct rank *r)
{
    every(r, false, take_too_many_elements);
}

static const struct test tests[] = {
    {"other counts than expected", 3, other_counts, NULL, APART},
    {"... on nodes of two", 4, other_counts, NULL, APART | PPN(2)},
    {"... on nodes of three", 5, other_counts, NULL, APART | PPN(3)},
    {"no room", 3, no_room, NULL, APART},
    {"... on nodes of two", 4, no_room, NULL, APART | PPN(2)},
    {"starts of a request", 3, starts, NULL, APART},
    {"... on nodes of two", 4, starts, NULL, APART | PPN(2)},
    {"more than a rank may get", 3, too_much, NULL, APART},
    {"... on nodes of two", 4, too_much, NULL, APART | PPN(2)},
    {"... of nine ranks", 9, too_much, NULL, APART},
    {"... of eleven ranks", 11, too_much, NULL, APART},
    {"elements that are too many", 3, too_many_elements, NULL, APART},
    {"... on nodes of three", 7, too_many_elements, NULL, APART | PPN(3)},
    {"... of nine ranks", 9, too_many_elements, NULL, APART},
};

RUN_TESTS(tests)
