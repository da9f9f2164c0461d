/* SPDX-License-Identifier: BSD-3-Clause */
/* From opening a transport to closing it, with all that it can do between. */
#ifndef TESTS_FAULTS_TRANSPORT_H
#define TESTS_FAULTS_TRANSPORT_H

#include "faults_try.h"

#define BYTES (256u << 10)
#define EAGER 64u

struct transport {
    struct rank *r;
    drail_mem_t *mem;
    unsigned char *memory; /* half of it for the peer to write */
    drail_key_t keys[RANKS];
};

/* The sentence of a call that fails is its own, not that of this one. */
static void tell_earlier(drail_t *t)
{
    check(drail_wait(t, NULL, 0) == DRAIL_EINVAL);
}

static bool tells(const drail_t *t, bool ok)
{
    check(ok || !strstr(drail_last_error(t), "drail_wait: not a request"));
    return ok;
}
#define STEP_OF(t, call) (tell_earlier(t), tells(t, STEP(call)))

static void exchange(struct transport *x)
{
    faults_pause(true);
    exchange_keys(x->r, x->mem, x->keys);
    faults_pause(false);
}

static int put(struct transport *x, size_t bytes)
{
    drail_t *t = x->r->t;
    drail_req_t req;
    drail_xfer_t xfer = {x->memory, x->mem, &x->keys[x->r->peer], BYTES, bytes};
    uint32_t id;
    int rc = drail_put(t, x->r->peer, &xfer, DRAIL_NOTIFY, 7, &req);
    rc = rc ? rc : drail_wait(t, &req, -1);
    rc = rc ? rc : drail_notify_wait(t, x->r->peer, &id, -1);
    return rc || (id == 7 && !memcmp(x->memory, x->memory + BYTES, bytes))
               ? rc
               : DRAIL_EINVAL;
}

static int get(struct transport *x)
{
    drail_t *t = x->r->t;
    drail_req_t req;
    drail_xfer_t xfer = {x->memory, x->mem, &x->keys[x->r->peer], 0, BYTES};
    int rc = drail_get(t, x->r->peer, &xfer, 0, &req);
    return rc ? rc : drail_wait(t, &req, -1);
}

static int message(struct transport *x, bool sends, size_t bytes)
{
    size_t got = 0;
    if (sends)
        return drail_send(x->r->t, x->r->peer, x->memory, bytes, NULL);
    int rc = drail_recv(x->r->t, x->r->peer, x->memory, BYTES, &got, -1);
    return rc || got == bytes ? rc : DRAIL_EINVAL;
}

static int atomic(struct transport *x)
{
    uint64_t old;
    return drail_atomic(x->r->t, x->r->peer, DRAIL_FETCH_ADD,
                        &x->keys[x->r->peer], BYTES + BYTES / 2, 1, 0, &old);
}

static void operate(struct transport *x)
{
    bool first = x->r->rank == 0;
    drail_t *t = x->r->t;
    memset(x->memory, 1, BYTES);
    if (STEP_OF(t, put(x, 8)) && STEP_OF(t, put(x, BYTES / 2)) &&
        STEP_OF(t, get(x)) && STEP_OF(t, message(x, first, EAGER)) &&
        STEP_OF(t, message(x, !first, EAGER)) &&
        STEP_OF(t, message(x, first, BYTES)) &&
        STEP_OF(t, message(x, !first, BYTES)) && STEP_OF(t, atomic(x)))
        STEP_OF(t, drail_fence(t, x->r->peer));
}

static void transport(struct rank *r, const drail_config_t *cfg)
{
    struct transport x = {.r = r};
    drail_error_t err = {0};
    void *memory = NULL;
    r->t = NULL;
    faults_pause(false);
    bool open = STEP(drail_open(r->job, cfg, &r->t, &err));
    check(open == (r->t != NULL));
    if (open && STEP_OF(r->t, drail_connect(r->t, r->peer)))
        STEP_OF(r->t, drail_mem_alloc(r->t, 2 * BYTES, DRAIL_ACCESS_ALL,
                                      &memory, &x.mem));
    x.memory = memory;
    if (all_well(r)) {
        exchange(&x);
        operate(&x);
    }
    await_peer(r, r->t);
    if (x.mem)
        drail_mem_release(x.mem);
    drail_close(r->t);
    r->t = NULL;
}

#endif
