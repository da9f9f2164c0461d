/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over TCP, a peer is stopped in the middle of an RDMA read or write of this
 * rank's memory. When a call says that the memory is this rank's again, the
 * peer gets nothing of what is there afterwards, and changes none of it.
 */
#include "over_tcp.h"
#include "proc_state.h"
#include "tests/stop_inside.h"

#define BYTES ((size_t)64 << 20) /* more than the sockets take */
#define OLD   0x11
#define NEW   0x5a

static volatile pid_t *stopped; /* rank 1, in memory that the ranks share */

static unsigned char buffer[BYTES];

/* In rank 1: it stops in the middle of its next transfer. */
static void stop_soon(void)
{
    *stopped = getpid();
    atomic_store(&stop_inside, true);
}

static void await_stop(void)
{
    check_within(20, *stopped && proc_state(*stopped) == 'T');
}

static void go_on(void)
{
    check(kill(*stopped, SIGCONT) == 0);
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
        go_on();
    } else {
        stop_soon();
        size_t got = 0;
        int rc = drail_recv(r->t, 0, buffer, BYTES, &got, 10000);
        printf("# drail_recv: %s\n", drail_strerror(rc));
        check(count(buffer, NEW) == 0);
        check(rc || count(buffer, OLD) == BYTES);
    }
    barrier(r);
}

static void released(struct rank *r, drail_mem_t *mem)
{
    int rc = drail_mem_release(mem);
    printf("# drail_mem_release: %s\n", drail_strerror(rc));
    check(rc == 0 || rc == DRAIL_EDAT);
    if (rc) /* the peer is inside until it has gone on */
        go_on();
    for (double end = seconds() + 20; rc; nap(1)) {
        check(seconds() < end);
        rc = drail_mem_release(mem);
    }
}

static void tried(struct rank *r, drail_mem_t *mem)
{
    double begin = seconds();
    expect(r, DRAIL_EDAT, drail_mem_try_release(mem));
    check(seconds() - begin < 0.5); /* a release takes a second */
    check(strstr(drail_last_error(r->t), "dapl_lmr_try_free(tcp-a)") != NULL);
    go_on();
    for (double end = seconds() + 20; drail_mem_try_release(mem); nap(1)) {
        check(seconds() < end);
        drail_progress(r->t);
    }
}

/* Rank 1 is stopped while it writes; a release that succeeds is the end of
 * it. */
static void put_there(struct rank *r,
                      void (*release)(struct rank *, drail_mem_t *))
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
        release(r, user);
        memset(buffer, NEW, BYTES);
        go_on();
    } else {
        drail_req_t req;
        drail_xfer_t put = {.local = memory,
                            .local_mem = mem,
                            .remote = &keys[0],
                            .bytes = BYTES};
        check(drail_job_allgather(r->job, &keys[1], sizeof keys[1], keys, -1) ==
              0);
        stop_soon();
        expect(r, 0, drail_put(r->t, 0, &put, 0, 0, &req));
        drail_wait(r->t, &req, 10000);
    }
    barrier(r);
    check(r->rank || count(buffer, NEW) == BYTES);
    barrier(r);
    drail_mem_release(mem);
}

static void put_released(struct rank *r)
{
    put_there(r, released);
}

static void put_tried(struct rank *r)
{
    put_there(r, tried);
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
    {"what was released is still written", 2, put_released, patient, 0},
    {"attempts to release what is still written", 2, put_tried, patient, 0},
};

int main(int argc, char **argv)
{
    stopped = shared_memory(sizeof *stopped);
    return over_tcp(tests, sizeof tests / sizeof tests[0], argc, argv);
}
