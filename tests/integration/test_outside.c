/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of one host that can't reach each other inside it, whatever they said,
 * do so outside: engine auto learns there, and atomics that come from outside
 * don't meet those of ranks inside, of which they would know nothing.
 */
#include "conf.h"
#include "ranks.h"

#include "dapl_rail/base/handle.h"
#include "hello_said.h"

#define RAILS 3
#define ADDS  3000

static const char rails[] =
    RAIL("in0", "fabric=in") RAIL("left0", "fabric=left scope=network")
        RAIL("right0", "fabric=right scope=network");

static bool misled; /* requests over the first rail go where nobody is */

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (misled && hello->rail == 0)
        *qual += 1u << 30;
    return true;
}

static void all_rails_listed(drail_config_t *cfg)
{
    use_rails(cfg, "in0", "left0", "right0");
}

static void connect_outside(struct rank *r, unsigned peer)
{
    misled = true;
    expect(r, 0, drail_connect(r->t, peer));
    misled = false;
}

/* It compares the rails that there are, not the one that nobody is reached by.
 */
static void auto_learns(struct rank *r)
{
    char text[512];
    check(r->t->measured == 1);
    connect_outside(r, r->peer);
    check(r->t->measured == 6);
    expect(r, 0,
           drail_set_engine(r->t, DRAIL_ENGINE_AUTO, DRAIL_TEAM_RESIDENT));
    drail_explain(r->t, 1 << 20, text, sizeof text);
    check(strstr(text, "left0 524288") && strstr(text, "right0 524288"));
}

struct word {
    uint64_t *at;
    drail_mem_t *mem;
    drail_key_t keys[3];
};

/* Memory that a provider may have to copy from and to, also for an atomic. */
static void word_open(struct rank *r, struct word *w)
{
    w->at = aligned_alloc(64, 64);
    check(w->at != NULL);
    *w->at = 0;
    expect(r, 0,
           drail_mem_register(r->t, w->at, 64, DRAIL_ACCESS_ALL, &w->mem));
    exchange_keys(r, w->mem, w->keys);
}

static void word_close(struct rank *r, struct word *w)
{
    barrier(r);
    expect(r, 0, drail_mem_release(w->mem));
    free(w->at);
}

/* Adds to rank 0's word, and says how many have been done. */
static void add(struct rank *r, const struct word *w)
{
    uint32_t done = 0;
    for (unsigned n = 0; n < ADDS; n++) {
        int rc =
            drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &w->keys[0], 0, 1, 0, NULL);
        if (rc == DRAIL_ENOTSUP)
            check(strstr(drail_last_error(r->t), "inside"));
        else
            expect(r, 0, rc);
        done += !rc;
    }
    expect(r, 0, drail_notify(r->t, 0, 0, done));
}

static uint32_t added_by(struct rank *r, unsigned peer)
{
    uint32_t done;
    expect(r, 0, drail_notify_wait(r->t, peer, &done, -1));
    return done;
}

/* Rank 1 comes from outside: first alone, then with rank 2 from inside. */
static void atomics_do_not_meet(struct rank *r)
{
    struct word w;
    uint32_t alone = 0, outside, inside;
    word_open(r, &w);
    if (r->rank < 2)
        connect_outside(r, r->peer);
    if (r->rank == 0)
        alone = added_by(r, 1);
    if (r->rank == 1)
        add(r, &w);
    barrier(r);
    if (r->rank == 0)
        expect(r, 0, drail_connect(r->t, 2));
    if (r->rank == 2)
        expect(r, 0, drail_connect(r->t, 0));
    barrier(r);
    if (r->rank) {
        add(r, &w);
    } else {
        inside = added_by(r, 2);
        outside = added_by(r, 1);
        check(__atomic_load_n(w.at, __ATOMIC_SEQ_CST) ==
              alone + inside + outside);
        check(alone == ADDS && inside == ADDS && outside == 0);
    }
    word_close(r, &w);
}

static const struct test tests[] = {
    {"auto learns", 2, auto_learns, all_rails_listed, APART},
    {"atomics do not meet", 3, atomics_do_not_meet, all_rails_listed, APART},
};

RUN_TESTS_AFTER(conf_restart(argv, rails), 1, tests)
