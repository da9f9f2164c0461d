/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank is killed at a random moment of its traffic: every other rank gets
 * DRAIL_EPEER, or over verbs perhaps DRAIL_EACCESS, before any timeout, and
 * nothing of it stays behind.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/random.h>

#include "dapl_rail/batch.h"
#include "ranks.h"

#define BYTES (1u << 20)
#define LIMIT 10 /* seconds from the death to the error: no timeout, of 30 */

struct board {
    volatile double died; /* when */
    volatile unsigned delay_us;
    volatile bool survived; /* the other rank saw what it should */
};

static struct board *board;

/* The work of victim and survivors; a rank's error ends it. */
static int traffic(struct rank *r, unsigned char *memory, drail_mem_t *mem,
                   const drail_key_t *keys, unsigned n)
{
    int rc = 0;
    drail_xfer_t x = {.local = memory,
                      .local_mem = mem,
                      .remote = &keys[r->peer],
                      .bytes = n % 3 ? BYTES : 100};
    drail_batch_t batch = {
        .xfer = x, .count = 20, .id = n, .await_reply = true};
    switch (n % 4) {
    case 0:
        rc = r->rank ? drail_batch_answer(r->t, 0, true, n, NULL)
                     : drail_batch(r->t, 1, &batch);
        break;
    case 1:
        rc = drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, n, NULL);
        if (!rc)
            rc = drail_notify_wait(r->t, r->peer, NULL, -1);
        break;
    case 2:
        rc = r->rank ? drail_recv(r->t, 0, memory, BYTES, NULL, -1)
                     : drail_send(r->t, 1, memory, x.bytes, mem);
        break;
    case 3:
        rc = drail_get(r->t, r->peer, &x, 0, NULL);
        if (!rc)
            rc = drail_fence(r->t, r->peer);
        break;
    }
    return rc;
}

static void *killer(void *arg)
{
    struct timespec ts = {.tv_nsec = board->delay_us * 1000L};
    nanosleep(&ts, NULL);
    board->died = seconds();
    kill(getpid(), SIGKILL);
    return NULL;
}

/* The memory of a process that is killed may go before its connections do: over
 * verbs, what reaches it then is refused. */
static bool is_its_end(const struct rank *r, int rc)
{
    bool verbs = !strcmp(drail_rail_at(r->t, 0)->fabric, "verbs");
    return rc == DRAIL_EPEER || (verbs && rc == DRAIL_EACCESS);
}

static void killed(struct rank *r)
{
    unsigned char *memory;
    drail_mem_t *mem;
    drail_key_t keys[2];
    pthread_t thread;
    int rc = 0;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 1)
        pthread_create(&thread, NULL, killer, NULL);
    for (unsigned n = 0; !rc; n++) {
        drail_engine_t engine = (drail_engine_t)(n / 4 % 3);
        expect(r, 0,
               drail_set_engine(r->t, engine, (drail_team_t)(n / 12 % 2)));
        rc = traffic(r, memory, mem, keys, n);
    }
    double took = seconds() - board->died;
    int end = rc;
    if (!is_its_end(r, end) || took > LIMIT)
        printf("# the survivor got %d (%s) after %.3f s: %s\n", rc,
               drail_strerror(rc), took, drail_last_error(r->t));
    check(is_its_end(r, end));
    check(took < LIMIT);
    /* and it stays so, for every call */
    expect(r, end, drail_notify(r->t, r->peer, 0, 1));
    /* but what came whole before the death is still delivered */
    while ((rc = drail_notify_wait(r->t, r->peer, NULL, -1)) == 0)
        ;
    check(rc == end);
    expect(r, end, drail_fence(r->t, r->peer));
    expect(r, 0, drail_mem_release(mem));
    board->survived = true;
}

/* A peer that merely closes: what it had sent still arrives, then EPEER. */
static void closed(struct rank *r)
{
    if (r->rank == 0) {
        for (unsigned i = 0; i < 10; i++)
            expect(r, 0, drail_notify(r->t, 1, DRAIL_ALL_RAILS, i));
        return; /* and closes */
    }
    nap(200);
    for (uint32_t i = 0, id; i < 10; i++) {
        expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
        check(id == i);
    }
    double begin = seconds();
    expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, -1));
    check(seconds() - begin < LIMIT);
    board->survived = true;
}

static const struct test kill_test = {"killed", 2, killed, NULL, FAILS};
static const struct test close_test = {"closes", 2, closed, NULL, FAILS};

/* Runs a job; want: how it must end, in the words of its error. */
static int run(const struct test *test, unsigned number, const char *want)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    drail_job_config_init(&cfg);
    cfg.error = &err;
    board->survived = false;
    double begin = seconds();
    drail_job_run(&cfg, rank_main, (void *)(uintptr_t)test);
    bool ok = board->survived && strstr(err.text, want);
    printf("%s %u - the peer %s, %u us after its start (%.1f s) %s\n",
           ok ? "ok" : "not ok", number, test->name, board->delay_us,
           seconds() - begin, err.text);
    fflush(stdout);
    return !ok;
}

int main(void)
{
    enum { ROUNDS = 20 };
    int failed = 0;
    board = shared_memory(sizeof *board);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        unsigned random = 0;
        if (getrandom(&random, sizeof random, 0) != sizeof random)
            return 1;
        board->delay_us = random % 60000;
        failed += run(&kill_test, i, "rank 1 was killed by signal 9");
    }
    board->delay_us = 0;
    failed += run(&close_test, ROUNDS + 1, "");
    printf("1..%u\n", ROUNDS + 1);
    return failed != 0;
}
