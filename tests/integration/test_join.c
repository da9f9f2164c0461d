/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs that somebody else has started: the test forks the ranks by itself and
 * joins them over socket pairs, with rank 0 in the middle.
 */
#include <limits.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "ranks.h"

#define RANKS   5
#define PATIENT 30 /* seconds */
#define LATER   1000

static int pairs[RANKS][2]; /* [0]: of rank 0 to rank r, [1]: of rank r */
static const unsigned interleaved[RANKS] = {7, 3, 7, 900, 3};

static bool carry(bool out, int fd, const void *data, size_t bytes)
{
    char *at = (char *)(uintptr_t)data;
    while (bytes) {
        ssize_t n = out ? send(fd, at, bytes, MSG_NOSIGNAL)
                        : recv(fd, at, bytes, MSG_WAITALL);
        if (n <= 0)
            return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

/* Context is the rank. Not one of the library's codes when it fails. */
static int allgather(void *context, const void *mine, size_t bytes, void *all,
                     int timeout_ms)
{
    unsigned rank = *(const unsigned *)context;
    bool ok = bytes > 0 && timeout_ms > 0;
    memcpy((char *)all + rank * bytes, mine, bytes);
    if (rank)
        return ok && carry(true, pairs[rank][1], mine, bytes) &&
                       carry(false, pairs[rank][1], all, RANKS * bytes)
                   ? 0
                   : LATER;
    for (unsigned r = 1; ok && r < RANKS; r++)
        ok = carry(false, pairs[r][0], (char *)all + r * bytes, bytes);
    for (unsigned r = 1; ok && r < RANKS; r++)
        ok = carry(true, pairs[r][0], all, RANKS * bytes);
    return ok ? 0 : LATER;
}

/* Starts the ranks and waits for them. */
static bool launch(void (*body)(unsigned rank))
{
    pid_t child[RANKS];
    bool ok = true;
    fflush(stdout);
    for (unsigned r = 0; r < RANKS; r++)
        check(!socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[r]));
    for (unsigned r = 0; r < RANKS; r++) {
        child[r] = fork();
        check(child[r] >= 0);
        if (child[r])
            continue;
        alarm(PATIENT);
        body(r);
#ifdef __SANITIZE_ADDRESS__
        check(__lsan_do_recoverable_leak_check() == 0);
#endif
        _exit(0);
    }
    for (unsigned r = 0; r < RANKS; r++) {
        int status = 1;
        close(pairs[r][0]);
        close(pairs[r][1]);
        check(waitpid(child[r], &status, 0) == child[r]);
        ok &= status == 0;
    }
    return ok;
}

static drail_job_t *join(unsigned *rank, const unsigned *nodes)
{
    drail_error_t err = {0};
    drail_job_t *job = NULL;
    drail_job_join_t how = {.rank = *rank,
                            .size = RANKS,
                            .nodes = nodes,
                            .allgather = allgather,
                            .context = rank};
    if (drail_job_join(&how, &job, &err))
        printf("# rank %u: %s\n", *rank, err.text);
    check(job != NULL);
    return job;
}

/* ------------------------------------------------------------ the tests */

static void node_map(unsigned rank)
{
    static const unsigned node[RANKS] = {0, 1, 0, 2, 1};
    static const unsigned local[RANKS] = {0, 0, 1, 0, 1};
    static const unsigned locals[RANKS] = {2, 2, 2, 1, 2};
    unsigned map[RANKS];
    memcpy(map, interleaved, sizeof map);
    drail_job_t *job = join(&rank, map);
    memset(map, 0, sizeof map); /* it has been copied */
    check(drail_job_rank(job) == rank && drail_job_size(job) == RANKS);
    check(drail_job_nodes(job) == 3);
    for (unsigned r = 0; r < RANKS; r++) {
        check(drail_job_node(job, r) == node[r]);
        check(drail_job_local_rank(job, r) == local[r]);
        check(drail_job_local_size(job, r) == locals[r]);
    }
    check(drail_job_barrier(job, -1) == 0);
    drail_job_leave(job);
}

/* Each rank puts to all others, over an all-gather that carries the keys. */
static void transport(unsigned rank)
{
    drail_job_t *job = join(&rank, interleaved);
    struct rank r = {.job = job, .rank = rank, .size = RANKS};
    drail_config_t cfg;
    drail_error_t err = {0};
    drail_mem_t *mem;
    drail_key_t keys[RANKS];
    uint64_t *words;

    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    check(drail_open(job, &cfg, &r.t, &err) == 0);
    for (unsigned p = 0; p < RANKS; p++)
        if (p != rank)
            expect(&r, 0, drail_connect(r.t, p));
    expect(&r, 0,
           drail_mem_alloc(r.t, RANKS * sizeof *words,
                           DRAIL_ACCESS_REMOTE_WRITE, (void **)&words, &mem));
    words[rank] = 1000 + rank;
    exchange_keys(&r, mem, keys);
    for (unsigned p = 0; p < RANKS; p++) {
        drail_xfer_t x = {.local = &words[rank],
                          .local_mem = mem,
                          .remote = &keys[p],
                          .remote_offset = rank * sizeof *words,
                          .bytes = sizeof *words};
        if (p != rank)
            expect(&r, 0, drail_put(r.t, p, &x, DRAIL_NOTIFY, 1, NULL));
    }
    for (unsigned p = 0; p < RANKS; p++)
        if (p != rank)
            expect(&r, 0, drail_notify_wait(r.t, p, NULL, -1));
    for (unsigned p = 0; p < RANKS; p++)
        check(words[p] == 1000 + p);
    barrier(&r);
    expect(&r, 0, drail_mem_release(mem));
    drail_close(r.t);
    drail_job_leave(job);
}

/* The result of an all-gather outlives the job. */
static void gathered(unsigned rank)
{
    drail_job_t *job = join(&rank, NULL);
    drail_gathered_t *all, *never;
    unsigned mine = 1000 + rank;
    check(drail_gathered_new(job, 0, &all) == DRAIL_EINVAL);
    check(drail_gathered_new(job, (64 << 10) + 1, &all) == DRAIL_EINVAL);
    check(drail_gathered_new(job, sizeof mine, &all) == 0);
    check(drail_gathered_new(job, sizeof mine, &never) == 0);
    check(drail_gathered_exchange(all, &mine, -1) == 0);
    drail_job_leave(job);
    for (unsigned r = 0; r < RANKS; r++)
        check(*(const unsigned *)drail_gathered_of(all, r) == 1000 + r);
    drail_gathered_free(all);
    drail_gathered_free(never);
    drail_gathered_free(NULL);
}

static void *interrupter(void *job)
{
    drail_job_interrupt(job);
    return NULL;
}

/* Only the rank that is interrupted. */
static void interrupted(unsigned rank)
{
    drail_job_t *job = join(&rank, NULL);
    struct rank r = {.job = job, .rank = rank, .size = RANKS};
    drail_config_t cfg;
    pthread_t thread;
    drail_config_init(&cfg);
    take_rails(&cfg, 1);
    check(drail_open(job, &cfg, &r.t, NULL) == 0);
    if (rank < 2)
        expect(&r, 0, drail_connect(r.t, 1 - rank));
    barrier(&r);
    check(!drail_job_interrupted(job));
    if (rank == 1) {
        check(!pthread_create(&thread, NULL, interrupter, job));
        expect(&r, DRAIL_EINTR, drail_notify_wait(r.t, 0, NULL, -1));
        check(!pthread_join(thread, NULL));
        check(drail_job_interrupted(job));
        check(drail_job_barrier(job, -1) == DRAIL_EINTR);
        check(carry(true, pairs[1][1], "", 1));
    } else if (rank == 0) {
        char told;
        check(carry(false, pairs[1][0], &told, 1));
        check(!drail_job_interrupted(job));
    }
    drail_close(r.t);
    drail_job_leave(job);
}

static void expect_refusal(const drail_job_join_t *how, int code,
                           const char *text)
{
    drail_error_t err = {0};
    drail_job_t *job = NULL;
    check(drail_job_join(how, &job, &err) == code && !job);
    if (!strstr(err.text, text))
        printf("# %s\n", err.text);
    check(strstr(err.text, text) != NULL);
}

/* All ranks hear that they do not fit together. */
static void misfits(unsigned rank)
{
    unsigned map[RANKS] = {0};
    drail_job_join_t how = {
        .size = RANKS, .allgather = allgather, .context = &rank};
    how.rank = rank == 3 ? 1 : rank;
    expect_refusal(&how, DRAIL_EINVAL, "rank 1 of 5 in the place of rank 3");
    how.rank = rank;
    how.nodes = map;
    map[4] = rank == 2;
    expect_refusal(&how, DRAIL_EINVAL, "ranks 0 and 2 differ in the node");
}

/* Rank 2 thinks that it is alone; the all-gather knows better. */
static void too_small(unsigned rank)
{
    drail_job_join_t how = {
        .rank = rank, .size = RANKS, .allgather = allgather, .context = &rank};
    if (rank == 2)
        how.rank = 0, how.size = 1;
    expect_refusal(&how, DRAIL_EINVAL, rank == 2 ? "of 5" : "rank 0 of 1");
}

/* Numbers that no rank of the job has. */
static void beyond(unsigned rank)
{
    drail_job_t *job = join(&rank, interleaved);
    check(drail_job_node(job, RANKS) == UINT_MAX);
    check(drail_job_local_rank(job, UINT_MAX) == UINT_MAX);
    check(drail_job_local_size(job, RANKS) == 0);
    drail_job_leave(job);
}

static void bad_arguments(unsigned rank)
{
    drail_job_join_t how = {.rank = RANKS, .size = RANKS, .context = &rank};
    expect_refusal(&how, DRAIL_EINVAL, "NULL");
    expect_refusal(NULL, DRAIL_EINVAL, "NULL");
    how.allgather = allgather;
    expect_refusal(&how, DRAIL_EINVAL, "rank 5 of 5");
    how.size = 0;
    expect_refusal(&how, DRAIL_EINVAL, "1 to 16384");
    drail_job_leave(NULL);
}

/* Of one rank; the second call gives this code. */
struct failing {
    unsigned calls;
    int code;
};

static int fail_later(void *context, const void *mine, size_t bytes, void *all,
                      int timeout_ms)
{
    struct failing *f = context;
    memcpy(all, mine, bytes);
    return ++f->calls == 2 ? f->code : 0;
}

/* Not called again, and its codes are the library's, or the peers' fault. */
static void failing_once(int code, int want)
{
    struct failing f = {.code = code};
    drail_job_t *job = NULL;
    drail_job_join_t how = {.size = 1, .allgather = fail_later, .context = &f};
    check(drail_job_join(&how, &job, NULL) == 0);
    for (unsigned i = 0; i < 2; i++)
        check(drail_job_barrier(job, -1) == want);
    check(f.calls == 2);
    drail_job_leave(job);
}

static int fail_at_once(void *context, const void *mine, size_t bytes,
                        void *all, int timeout_ms)
{
    return LATER;
}

/* Once an all-gather has failed, the ranks are out of step. */
static void failure(unsigned rank)
{
    drail_job_t *job = join(&rank, NULL);
    drail_job_join_t how = {.size = 1, .allgather = fail_at_once};
    expect_refusal(&how, DRAIL_EPEER, drail_strerror(DRAIL_EPEER));
    failing_once(DRAIL_EINVAL, DRAIL_EINVAL);
    failing_once(DRAIL_ETRUNC, DRAIL_ETRUNC);
    failing_once(-24, DRAIL_EPEER);
    failing_once(7, DRAIL_EPEER);
    if (rank < 4)
        check(drail_job_barrier(job, -1) == DRAIL_EPEER);
    /* rank 4 ends, rank 0 passes it on */
    for (unsigned r = 1; r < RANKS; r++)
        if (rank == 0 || rank == 4)
            shutdown(pairs[rank ? rank : r][rank != 0], SHUT_RDWR);
    check(rank == 4 || drail_job_barrier(job, -1) == DRAIL_EPEER);
    drail_job_leave(job);
}

int main(void)
{
    static const struct {
        const char *name;
        void (*body)(unsigned rank);
    } all[] = {
        {"any node map", node_map},
        {"transport", transport},
        {"gathered", gathered},
        {"interrupt", interrupted},
        {"ranks that do not fit", misfits},
        {"bad arguments", bad_arguments},
        {"all-gather fails", failure},
        {"a size too small", too_small},
        {"ranks beyond the job", beyond},
    };
    bool ok = true;
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++) {
        bool good = launch(all[i].body);
        printf("%s %u - %s\n", good ? "ok" : "not ok", i + 1, all[i].name);
        ok &= good;
    }
    return !ok;
}
