/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over TCP, a peer is stopped in the middle of an RDMA read or write of this
 * rank's memory. When a call says that the memory is this rank's again, the
 * peer gets nothing of what is there afterwards, and changes none of it.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "over_tcp.h"

#define BYTES ((size_t)64 << 20) /* more than the sockets take */
#define OLD   0x11
#define NEW   0x5a

static struct board {
    volatile pid_t pid; /* of rank 1 */
    volatile bool stops;
} * board;

static unsigned char buffer[BYTES];

/* Rank 1 stops when the first bytes have come, or something was sent. */
static void *stopper(void *watched)
{
    const volatile unsigned char *first = watched;
    while (*first != OLD)
        ;
    board->stops = true;
    kill(getpid(), SIGSTOP);
    return NULL;
}

static pthread_t stop_at(void *watched)
{
    pthread_t thread;
    board->pid = getpid();
    check(!pthread_create(&thread, NULL, stopper, watched));
    return thread;
}

static void await_stop(void)
{
    while (!board->stops)
        nap(1);
    nap(50);
    board->stops = false;
}

static unsigned count(const unsigned char *bytes, unsigned char value)
{
    unsigned n = 0;
    for (size_t i = 0; i < BYTES; i++)
        n += bytes[i] == value;
    return n;
}

/* Rank 1 is stopped while it reads what rank 0 sends. */
static void sent(struct rank *r)
{
    if (r->rank == 0) {
        memset(buffer, OLD, BYTES);
        expect(r, DRAIL_ETIMEOUT, drail_send(r->t, 1, buffer, BYTES, NULL));
        memset(buffer, NEW, BYTES);
        await_stop();
        check(kill(board->pid, SIGCONT) == 0);
    } else {
        pthread_t thread = stop_at(buffer);
        size_t got = 0;
        int rc = drail_recv(r->t, 0, buffer, BYTES, &got, 10000);
        pthread_join(thread, NULL);
        printf("# drail_recv: %s\n", drail_strerror(rc));
        check(count(buffer, NEW) == 0);
        check(rc || count(buffer, OLD) == BYTES);
    }
    barrier(r);
}

/* Rank 1 is stopped while it writes; a release that succeeds is the end of
 * it. */
static void put_there(struct rank *r)
{
    unsigned char *memory;
    drail_key_t keys[2];
    drail_mem_t *mem;
    expect(
        r, 0,
        drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, (void **)&memory, &mem));
    memset(memory, r->rank ? OLD : 0, BYTES);
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        drail_mem_t *user;
        memset(buffer, 0, BYTES);
        expect(
            r, 0,
            drail_mem_register(r->t, buffer, BYTES, DRAIL_ACCESS_ALL, &user));
        drail_mem_key(user, &keys[0]);
        check(drail_job_allgather(r->job, &keys[0], sizeof keys[0], keys, -1) ==
              0);
        await_stop();
        int rc = drail_mem_release(user);
        printf("# drail_mem_release: %s\n", drail_strerror(rc));
        check(rc == 0 || rc == DRAIL_EDAT);
        if (rc) /* the peer is inside until it has gone on */
            check(kill(board->pid, SIGCONT) == 0);
        for (double end = seconds() + 20; rc; nap(1)) {
            check(seconds() < end);
            rc = drail_mem_release(user);
        }
        memset(buffer, NEW, BYTES);
        check(kill(board->pid, SIGCONT) == 0);
    } else {
        drail_req_t req;
        drail_xfer_t put = {.local = memory,
                            .local_mem = mem,
                            .remote = &keys[0],
                            .bytes = BYTES};
        check(drail_job_allgather(r->job, &keys[1], sizeof keys[1], keys, -1) ==
              0);
        board->pid = getpid();
        expect(r, 0, drail_put(r->t, 0, &put, 0, 0, &req));
        board->stops = true;
        kill(getpid(), SIGSTOP);
        drail_wait(r->t, &req, 10000);
    }
    barrier(r);
    check(r->rank || count(buffer, NEW) == BYTES);
    barrier(r);
    drail_mem_release(mem);
}

static void impatient(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a");
    cfg->timeout_ms = 2000;
}

static void patient(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a");
}

static const struct test tests[] = {
    {"what was sent is still read", 2, sent, impatient, 0},
    {"what was released is still written", 2, put_there, patient, 0},
};

int main(int argc, char **argv)
{
    board = shared_memory(sizeof *board);
    return over_tcp(tests, sizeof tests / sizeof tests[0], argc, argv);
}
