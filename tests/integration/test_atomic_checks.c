/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics that the target serves itself: it looks at what is asked. Stands in
 * for the provider's call to ask what no initiator asks.
 */
#include "dapl_rail/links/wire.h"
#include "memory.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define PAGE 65536u /* of any machine's, or several */

static bool falsify; /* the operation, from now on */

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    struct wire *wire = (struct wire *)(uintptr_t)local->virtual_address;
    if (falsify && wire->type == WIRE_ATOMIC)
        ((struct wire_atomic *)(wire + 1))->op = 7;
    return real(dat_ep_post_send)(ep, n, local, cookie, flags);
}

/* Rank 1 serves until it is told that this was all. */
static void serve(struct rank *r)
{
    if (r->rank == 1)
        expect(r, 0, drail_notify_wait(r->t, 0, NULL, -1));
    else
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
}

static void unknown_operation(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    uint64_t *word;
    expect(r, 0,
           drail_mem_alloc(r->t, 4096, DRAIL_ACCESS_ALL, (void **)&word, &mem));
    *word = 5;
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        falsify = true;
        expect(r, DRAIL_EPEER,
               drail_atomic(r->t, 1, DRAIL_FETCH_ADD, &keys[1], 0, 9, 5, NULL));
    } else {
        expect(r, DRAIL_EDAT, drail_notify_wait(r->t, 0, NULL, -1));
        check(strstr(drail_last_error(r->t), "operation of an atomic"));
        check(*word == 5);
    }
    expect(r, 0, drail_mem_release(mem));
}

static void asks(struct rank *r, int want, const drail_key_t *key,
                 uint64_t offset)
{
    expect(r, want,
           drail_atomic(r->t, 1, DRAIL_FETCH_ADD, key, offset, 1, 0, NULL));
}

/* A handle of one page is left of two: the other page may be unmapped. */
static void released_in_part(struct rank *r)
{
    drail_mem_t *whole, *part;
    drail_key_t keys[2], parts[2];
    unsigned char *pages = memory_two_pages(r, PAGE, &whole, &part);
    exchange_keys(r, whole, keys);
    exchange_keys(r, part, parts);
    if (r->rank == 0)
        asks(r, 0, &keys[1], PAGE);
    serve(r);
    expect(r, 0, drail_mem_release(whole));
    munmap(pages + PAGE, PAGE);
    barrier(r);
    if (r->rank == 0) {
        asks(r, DRAIL_EACCESS, &keys[1], PAGE);
        asks(r, 0, &parts[1], PAGE - 8);
    }
    serve(r);
    expect(r, 0, drail_mem_release(part));
    barrier(r);
    if (r->rank == 0)
        asks(r, DRAIL_EACCESS, &parts[1], 0);
    serve(r);
    munmap(pages, PAGE);
}

static void by_message(drail_config_t *cfg)
{
    take_rails(cfg, 1);
    setenv("DRAIL_EXTENSIONS", "0", 1);
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"unknown operation", 2, unknown_operation, by_message, 0},
    {"memory that is released in part", 2, released_in_part, by_message, 0},
};

RUN_TESTS(tests)
