/* SPDX-License-Identifier: BSD-3-Clause */
/* A message that has been sent is delivered when the sender closes. If it is
 * not, the sender is told. */
#include "conf.h"
#include "memory.h"
#include "tests/cable.h"

#define EAGER (64u << 10)
#define COUNT 12u
#define LONG  (48u << 20) /* 2.5 s */

static const char rails[] = RAIL("slow0", "rate=20 latency=2");
static const char *folder;

/* More than the provider keeps for a peer that takes nothing. */
static void send_all(struct rank *r)
{
    static unsigned char bytes[EAGER];
    for (unsigned n = 0; n < COUNT; n++) {
        memset(bytes, (int)n + 1, EAGER);
        expect(r, 0, drail_send(r->t, 1, bytes, EAGER, NULL));
    }
}

static void receive_all(struct rank *r)
{
    static unsigned char bytes[EAGER];
    size_t got;
    for (unsigned n = 0; n < COUNT; n++) {
        expect(r, 0, drail_recv(r->t, 0, bytes, EAGER, &got, -1));
        check(got == EAGER && bytes[0] == n + 1 && bytes[EAGER - 1] == n + 1);
    }
}

static int close_now(struct rank *r)
{
    int rc = drail_close(r->t);
    r->t = NULL;
    return rc;
}

static void receiver_is_late(struct rank *r)
{
    barrier(r);
    if (r->rank == 0) {
        send_all(r);
        check(close_now(r) == 0);
    } else {
        nap(2500);
        receive_all(r);
    }
    barrier(r);
}

/* A notification behind a transfer that takes longer than a second. */
static void rail_is_slow(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, LONG);
    memory_put(r, &m, LONG); /* its pages are there from then on */
    barrier(r);
    if (r->rank == 0) {
        drail_xfer_t x = memory_xfer(r, &m, LONG);
        memset(m.bytes, 9, LONG);
        expect(r, 0, drail_put(r->t, 1, &x, DRAIL_NOTIFY, 3, NULL));
        check(close_now(r) == 0);
    } else {
        uint32_t id = 0;
        expect(r, 0, drail_notify_wait(r->t, 0, &id, 20000));
        check(id == 3 && m.bytes[LONG - 1] == 9);
        expect(r, 0, drail_mem_release(m.mem));
    }
    barrier(r);
}

static void nothing_arrives(struct rank *r)
{
    cable_t cable;
    barrier(r);
    if (r->rank == 0) {
        check(!cable_grasp(&cable, folder, "shm0"));
        check(!cable_mute(&cable, true));
        expect(r, 0, drail_notify(r->t, 1, 0, 1));
        double begin = seconds();
        check(close_now(r) == DRAIL_ETIMEOUT);
        check(seconds() - begin < 10);
        cable_drop(&cable, folder, "shm0");
    }
    barrier_outside(r);
}

static void nothing_to_deliver(struct rank *r)
{
    double begin = seconds();
    check(close_now(r) == 0);
    check(seconds() - begin < 2);
}

static void large(drail_config_t *cfg)
{
    cfg->eager_bytes = EAGER;
    cfg->depth = 2 * COUNT;
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
}

static void large_one_rail(drail_config_t *cfg)
{
    large(cfg);
    cfg->nrails = 1;
}

static void slow(drail_config_t *cfg)
{
    use_rails(cfg, "slow0");
}

static void slower(drail_config_t *cfg)
{
    slow(cfg);
    cfg->timeout_ms = 1400;
}

static void impatient(drail_config_t *cfg)
{
    large_one_rail(cfg);
    cfg->timeout_ms = 1500;
}

static const struct test tests[] = {
    {"a late receiver", 2, receiver_is_late, large, 0},
    {"a late receiver, one rail", 2, receiver_is_late, large_one_rail, 0},
    {"a slow rail", 2, rail_is_slow, slow, 0},
    /* the time begins anew with each part that is complete */
    {"a slow rail, short timeout", 2, rail_is_slow, slower, 0},
    {"nothing arrives", 2, nothing_arrives, impatient, 0},
    {"nothing", 2, nothing_to_deliver, large, 0},
};

int main(int argc, char **argv)
{
    conf_restart(argv, rails);
    folder = cables_folder();
    check(folder);
    return run_tests(tests, sizeof tests / sizeof tests[0], 3, argc, argv);
}
