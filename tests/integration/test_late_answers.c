/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics by message whose target does not serve them in time: only one is
 * under way, so that late answers never are more than there are receives for.
 * Stands in for the provider's call to count the answers.
 */
#include "dapl_rail/links/wire.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

static unsigned answers; /* of this rank */

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    struct wire *wire = (struct wire *)(uintptr_t)local->virtual_address;
    answers += wire->type == WIRE_ATOMIC_REPLY;
    return real(dat_ep_post_send)(ep, n, local, cookie, flags);
}

static void ask(struct rank *r, const drail_key_t *key)
{
    uint64_t old;
    int rc = DRAIL_ETIMEOUT;
    for (double begin = seconds(); rc == DRAIL_ETIMEOUT;) {
        rc = drail_atomic(r->t, 1, DRAIL_FETCH_ADD, key, 0, 1, 0, &old);
        check(seconds() - begin < 20);
    }
    expect(r, 0, rc);
    check(old >= 6);
    expect(r, 0, drail_notify(r->t, 1, 0, 0));
}

/* Together, as the time is also that of opening. */
static void open_impatient(struct rank *r)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    take_rails(&cfg, 1);
    cfg.timeout_ms = 1000;
    barrier(r);
    drail_close(r->t);
    check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    expect(r, 0, drail_connect(r->t, r->peer));
}

static void late(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    uint64_t *word;
    open_impatient(r);
    expect(r, 0,
           drail_mem_alloc(r->t, 4096, DRAIL_ACCESS_ALL, (void **)&word, &mem));
    *word = 5;
    exchange_keys(r, mem, keys);
    barrier_outside(r); /* rank 1 has left the exchange: it serves nothing */
    for (unsigned n = 0; r->rank == 0 && n < 2; n++)
        expect(r, DRAIL_ETIMEOUT,
               drail_atomic(r->t, 1, DRAIL_FETCH_ADD, &keys[1], 0, 1, 0, NULL));
    barrier_outside(r);
    for (double begin = seconds(); r->rank == 1 && !answers;) {
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, 0, NULL, 1));
        check(seconds() - begin < 20);
    }
    check(answers == r->rank);
    barrier(r);
    if (r->rank == 0)
        ask(r, &keys[1]);
    else
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void by_message(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
    take_rails(cfg, 1);
}

static const struct test tests[] = {
    {"atomics", 2, late, by_message, APART},
};

RUN_TESTS(tests)
