/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests that a team keeps for later calls: how much memory they may take,
 * and when they are prepared again. Each preparation exchanges over the job, so
 * this program counts those exchanges.
 */
#include <sys/stat.h>

#include "ranks.h"
#include "tests/stand_in.h"
#include "team.h"

#define MOST 40000 /* bytes of the largest block */

static unsigned exchanges;

STAND_IN int drail_job_allgather(drail_job_t *job, const void *mine,
                                 size_t bytes, void *all, int timeout_ms)
{
    exchanges++;
    return real(drail_job_allgather)(job, mine, bytes, all, timeout_ms);
}

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char *send, *recv;
};

static void scene_open(struct scene *s, struct rank *r, size_t keep_bytes)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.keep_bytes = keep_bytes;
    cfg.zero_copy_bytes = SIZE_MAX; /* TEMP as large as it gets */
    s->r = r;
    expect(r, 0, dcoll_team_create(r->job, r->t, &cfg, &s->team, NULL));
    s->send = malloc(MOST);
    s->recv = malloc((size_t)MOST * r->size);
    check(s->send && s->recv);
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
    free(s->send);
    free(s->recv);
}

static dcoll_call_t allgather(struct scene *s, size_t bytes)
{
    memset(s->send, (int)(s->r->rank + bytes), bytes);
    memset(s->recv, 0, s->r->size * bytes);
    return (dcoll_call_t){DCOLL_ALLGATHER, s->send, s->recv, bytes, 0,
                          "bruck",         NULL,    NULL};
}

static void good(struct scene *s, int rc)
{
    team_good(s->r, s->team, rc, "collective");
}

static void got(struct scene *s, size_t bytes)
{
    for (unsigned from = 0; from < s->r->size; from++)
        for (size_t i = 0; i < bytes; i++)
            check(s->recv[from * bytes + i] == (unsigned char)(from + bytes));
}

static void run(struct scene *s, size_t bytes)
{
    dcoll_call_t call = allgather(s, bytes);
    good(s, dcoll_run(s->team, &call));
    got(s, bytes);
}

static void begin(struct scene *s, size_t bytes)
{
    dcoll_call_t call = allgather(s, bytes);
    dcoll_request_t *q;
    good(s, dcoll_begin(s->team, &call, &q));
    good(s, dcoll_wait(q, -1));
    got(s, bytes);
}

/* Files that this process has open, and the bytes of those without a name. */
static unsigned open_files(size_t *bytes)
{
    static ino_t seen[4096];
    struct stat st;
    unsigned n = 0, i;
    *bytes = 0;
    for (int fd = 0; fd < 4096; fd++) {
        if (fstat(fd, &st))
            continue;
        for (i = 0; i < n && seen[i] != st.st_ino; i++)
            ;
        /* providers have duplicates, and sparse files */
        if (i == n && S_ISREG(st.st_mode) && st.st_nlink == 0)
            *bytes += (size_t)st.st_blocks * 512;
        seen[n++] = st.st_ino;
    }
    return n;
}

/* ------------------------------------------------------------------ tests */

static void sizes(struct rank *r, void (*call)(struct scene *, size_t))
{
    struct scene s;
    size_t bytes;
    unsigned files = 0;
    scene_open(&s, r, 16 << 20);
    for (size_t size = 1; size <= 1200; size++) {
        call(&s, size);
        if (size == 700)
            files = open_files(&bytes);
    }
    check(open_files(&bytes) < files + 20); /* a few chunks more */
    scene_close(&s);
}

static void sizes_run(struct rank *r)
{
    sizes(r, run);
}

static void sizes_begun(struct rank *r)
{
    sizes(r, begin);
}

static void alternate(struct rank *r, void (*call)(struct scene *, size_t),
                      unsigned rounds)
{
    struct scene s;
    unsigned before = 0;
    scene_open(&s, r, 64 << 20);
    for (unsigned round = 0; round <= rounds; round++) {
        before = exchanges;
        for (size_t size = 100; size < 165; size++)
            call(&s, size);
    }
    check(exchanges == before);
    scene_close(&s);
}

static void alternating(struct rank *r)
{
    alternate(r, run, 1);
}

/* Equal calls take turns on four requests. */
static void alternating_begun(struct rank *r)
{
    alternate(r, begin, 4);
}

static void bounded(struct rank *r)
{
    const size_t keep = 4 << 20;
    struct scene s;
    size_t before, after;
    scene_open(&s, r, keep);
    run(&s, MOST); /* connects */
    open_files(&before);
    for (size_t size = MOST - 200; size < MOST; size++)
        if (size % 2)
            run(&s, size);
        else
            begin(&s, size);
    open_files(&after);
    check(after <= before + 3 * keep); /* rather than ten times as much */
    scene_close(&s);
}

/* A request larger than the cache is used again while it is the latest. */
static void larger(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 1);
    run(&s, MOST);
    unsigned before = exchanges;
    run(&s, MOST);
    check(exchanges == before);
    run(&s, 8);
    check(exchanges > before);
    scene_close(&s);
}

/* Each has a registration of the node's memory, with files of its own. */
static void many_files(struct rank *r)
{
    struct scene s;
    size_t bytes;
    unsigned files = 0;
    scene_open(&s, r, (size_t)1 << 30);
    for (size_t size = 1; size <= 200; size++) {
        dcoll_call_t call = allgather(&s, size);
        call.algorithm = "smp-direct";
        good(&s, dcoll_run(s.team, &call));
        got(&s, size);
        if (size == 150)
            files = open_files(&bytes);
    }
    check(open_files(&bytes) < files + 20);
    scene_close(&s);
}

/* Also of small ones, there are not ever more. */
static void many_requests(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, (size_t)1 << 30);
    for (size_t size = 1; size <= 600; size++)
        run(&s, size);
    unsigned before = exchanges;
    run(&s, 600);
    run(&s, 200);
    check(exchanges == before);
    run(&s, 50); /* before the latest 512 */
    check(exchanges > before);
    scene_close(&s);
}

/* The latest one, however large, takes no room from the others. */
static void beside(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 64 << 10);
    run(&s, 8);
    run(&s, MOST);
    unsigned before = exchanges;
    run(&s, 8);
    run(&s, MOST);
    check(exchanges == before);
    scene_close(&s);
}

/* To free what dcoll_begin gave ends it, also when it is complete already: the
 * team can drop it then. */
static void freed(struct rank *r)
{
    struct scene s;
    size_t bytes;
    unsigned files = 0;
    scene_open(&s, r, 1);
    for (size_t size = 1; size <= 150; size++) {
        dcoll_call_t c = {DCOLL_ALLGATHER, s.send, s.recv, size * 250, 0,
                          "bruck",         NULL,   NULL};
        dcoll_request_t *q;
        good(&s, dcoll_begin(s.team, &c, &q));
        good(&s, dcoll_barrier(s.team)); /* with progress for all */
        good(&s, dcoll_free(q));
        if (size == 20)
            files = open_files(&bytes);
    }
    check(open_files(&bytes) < files + 4);
    scene_close(&s);
}

/* A handle is the caller's until he has waited for it, however many other calls
 * come in between. */
static void held(struct rank *r)
{
    enum { N = 20 };
    struct scene s;
    dcoll_request_t *q[N];
    unsigned char recv[N][4 * 64];
    scene_open(&s, r, 1 << 10);
    memset(s.send, (int)r->rank + 1, 64);
    for (unsigned i = 0; i < N; i++) {
        dcoll_call_t c = {
            DCOLL_ALLGATHER, s.send, recv[i], 32 + i, 0, NULL, NULL, NULL};
        good(&s, dcoll_begin(s.team, &c, &q[i]));
    }
    for (unsigned i = 0; i < N; i++) {
        unsigned at = (i + r->rank) % N;
        good(&s, dcoll_wait(q[at], -1));
        for (unsigned from = 0; from < r->size; from++)
            check(recv[at][from * (32 + at)] == from + 1);
    }
    scene_close(&s);
}

/* The fifth of equal calls completes the first one and has its handle. */
static void fifth(struct rank *r)
{
    enum { N = 5 };
    struct scene s;
    dcoll_request_t *q[N];
    unsigned char recv[N][4 * 32];
    scene_open(&s, r, 1 << 20);
    memset(s.send, (int)r->rank + 1, 32);
    for (unsigned i = 0; i < N; i++) {
        dcoll_call_t c = {
            DCOLL_ALLGATHER, s.send, recv[i], 32, 0, NULL, NULL, NULL};
        good(&s, dcoll_begin(s.team, &c, &q[i]));
    }
    for (unsigned i = 0; i < N; i++) {
        check((q[i] == q[0]) == (i == 0 || i == N - 1));
        good(&s, dcoll_wait(q[i], -1)); /* as often as it was given */
    }
    for (unsigned i = 0; i < N; i++)
        for (unsigned from = 0; from < r->size; from++)
            check(recv[i][from * 32] == from + 1);
    scene_close(&s);
}

/* Each rank says another limit: the smallest holds, or they would not prepare
 * the same calls. */
static void limits_differ(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, (size_t)(r->rank + 1) << 17);
    for (unsigned round = 0; round < 3; round++)
        for (size_t size = 5000; size < 5020; size++)
            run(&s, size);
    scene_close(&s);
}

/* A call that is made again counts as a use, whether it is known by its buffers
 * or looked for, as where a rank has other ones: all drop the same request. */
static void again(struct rank *r)
{
    struct scene s;
    unsigned char other[8] = {0};
    scene_open(&s, r, (size_t)1 << 30);
    dcoll_call_t often = allgather(&s, 8);
    dcoll_call_t seldom = {.collective = DCOLL_GATHER,
                           .send = s.send,
                           .recv = s.recv,
                           .algorithm = "binomial"};
    good(&s, dcoll_run(s.team, &often));
    for (seldom.bytes = 1; seldom.bytes <= 600; seldom.bytes++) {
        good(&s, dcoll_run(s.team, &seldom));
        if (seldom.bytes != 400)
            continue;
        often.send = r->rank ? other : s.send;
        good(&s, dcoll_run(s.team, &often));
    }
    unsigned before = exchanges;
    good(&s, dcoll_run(s.team, &often));
    check(exchanges == before);
    scene_close(&s);
}

static void add(void *context, const void *left, const void *right,
                void *result, size_t count)
{
    const uint32_t *x = left, *y = right;
    uint32_t *to = result;
    for (size_t i = 0; i < count; i++)
        to[i] = x[i] + y[i] + *(const uint32_t *)context;
}

/* A call that is made again is another one where something else is found at the
 * end of a pointer. */
static void again_but(struct rank *r)
{
    struct scene s;
    char name[16] = "bruck";
    uint32_t mine[2] = {1, 2}, result[2] = {0}, more = 10, most = 100;
    dcoll_reduction_t reduction = {4, add, &more, false};
    scene_open(&s, r, (size_t)1 << 30);
    dcoll_call_t call = allgather(&s, 8);
    call.algorithm = name;
    good(&s, dcoll_run(s.team, &call));
    good(&s, dcoll_run(s.team, &call));
    unsigned before = exchanges;
    strcpy(name, "ring");
    good(&s, dcoll_run(s.team, &call));
    check(exchanges > before);
    strcpy(name, "none");
    check(dcoll_run(s.team, &call) == DRAIL_EINVAL);
    call = (dcoll_call_t){.collective = DCOLL_ALLREDUCE,
                          .send = mine,
                          .recv = result,
                          .bytes = sizeof mine,
                          .reduction = &reduction};
    good(&s, dcoll_run(s.team, &call));
    check(result[0] == 12 && result[1] == 14);
    reduction.context = &most;
    good(&s, dcoll_run(s.team, &call));
    check(result[0] == 102 && result[1] == 104);
    reduction.element = 3;
    check(dcoll_run(s.team, &call) == DRAIL_EINVAL);
    scene_close(&s);
}

/* Equal calls use one request, each with its own buffers: more of them than
 * the team remembers. */
static void buffers_in_turn(struct rank *r)
{
    enum { BUFFERS = 6 };
    struct scene s;
    uint32_t send[BUFFERS], recv[BUFFERS][2];
    scene_open(&s, r, (size_t)1 << 30);
    for (unsigned i = 0; i < 40 * BUFFERS; i++) {
        unsigned at = i % (1 + i / 40);
        send[at] = 2 * i + r->rank;
        good(&s, dcoll_allgather(s.team, &send[at], recv[at], 4));
        check(recv[at][0] == 2 * i && recv[at][1] == 2 * i + 1);
        send[at] = i;
        good(&s, dcoll_gather(s.team, &send[at], recv[at], 4, 0));
        check(r->rank || (recv[at][0] == i && recv[at][1] == i));
    }
    scene_close(&s);
}

static const struct test tests[] = {
    {"many sizes", 2, sizes_run, NULL, APART | PPN(1)},
    {"many sizes, begun", 2, sizes_begun, NULL, APART | PPN(1)},
    {"65 sizes in turn", 2, alternating, NULL, APART},
    {"65 sizes in turn, begun", 2, alternating_begun, NULL, APART | PPN(1)},
    {"bytes that are kept", 3, bounded, NULL, APART | PPN(2)},
    {"larger than what is kept", 2, larger, NULL, APART},
    {"beside the latest one", 2, beside, NULL, APART},
    {"many files", 4, many_files, NULL, APART | PPN(2)},
    {"many requests", 2, many_requests, NULL, APART},
    {"handles that are freed", 2, freed, NULL, APART | PPN(1)},
    {"handles that are held", 4, held, NULL, APART | PPN(2)},
    {"the fifth handle", 4, fifth, NULL, APART | PPN(2)},
    {"limits that differ", 3, limits_differ, NULL, APART},
    {"made again", 2, again, NULL, APART},
    {"made again, but changed", 2, again_but, NULL, APART},
    {"buffers in turn", 2, buffers_in_turn, NULL, 0},
};

RUN_TESTS(tests)
