/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts that travel with their notification, as no initiator sends them: the
 * target looks at what is asked before it copies. Stands in for the provider's
 * call to turn a message into one.
 */
#include "dapl_rail/links/wire.h"
#include "memory.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define PAGE  65536u /* of any machine's, or several */
#define BYTES 8u

static struct wire *falsify; /* a message, from now on, to have this head */

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *local,
                                     DAT_DTO_COOKIE cookie,
                                     DAT_COMPLETION_FLAGS flags)
{
    struct wire *wire = (struct wire *)(uintptr_t)local->virtual_address;
    if (falsify && wire->type == WIRE_EAGER) {
        falsify->credits = wire->credits;
        *wire = *falsify;
    }
    return real(dat_ep_post_send)(ep, n, local, cookie, flags);
}

/* Its data are fives. bytes: of all that follows the head. */
static void send_put(struct rank *r, uint32_t seq, uint64_t address,
                     uint32_t key, size_t bytes)
{
    struct {
        struct wire_put put;
        unsigned char data[BYTES];
    } message = {.put = {.address = address, .rmr_context = key}};
    struct wire head = {
        .type = WIRE_PUT, .parts = 1, .id = 7, .seq = seq, .rails = 1};
    memset(message.data, 5, BYTES);
    falsify = &head;
    expect(r, 0, drail_send(r->t, 1, &message, bytes, NULL));
    falsify = NULL;
}

#define WHOLE (sizeof(struct wire_put) + BYTES)

static void is_taken(struct rank *r)
{
    uint32_t id;
    expect(r, 0, drail_notify_wait(r->t, 0, &id, -1));
    check(id == 7);
}

static void is_refused(struct rank *r, const char *why)
{
    expect(r, DRAIL_EDAT, drail_notify_wait(r->t, 0, NULL, -1));
    check(strstr(drail_last_error(r->t), why));
}

/* Rank 0 sends that, rank 1 does not take it. */
static void refused(struct rank *r, int64_t offset, uint32_t other,
                    size_t bytes, const char *why)
{
    struct memory m;
    memory_open(r, &m, PAGE);
    const drail_key_t *key = &m.keys[1];
    if (r->rank == 0) {
        send_put(r, 0, key->address + (uint64_t)offset,
                 key->rmr_context[0] + other, bytes);
    } else {
        is_refused(r, why);
        for (unsigned i = 0; i < PAGE; i++)
            check(!m.bytes[i]);
    }
    memory_close(r, &m);
}

static void wraps(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, PAGE);
    if (r->rank == 0)
        send_put(r, 0, UINT64_MAX - BYTES / 2, m.keys[1].rmr_context[0], WHOLE);
    else
        is_refused(r, "key of a put");
    memory_close(r, &m);
}

static void before(struct rank *r)
{
    refused(r, -1, 0, WHOLE, "key of a put");
}

static void beyond(struct rank *r)
{
    refused(r, PAGE - BYTES + 1, 0, WHOLE, "key of a put");
}

static void another_key(struct rank *r)
{
    refused(r, 0, 1, WHOLE, "key of a put");
}

static void too_short(struct rank *r)
{
    refused(r, 0, 0, sizeof(struct wire_put) - 1, "length of a put");
}

static void no_data(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, PAGE);
    if (r->rank == 0)
        send_put(r, 0, m.keys[1].address + PAGE, m.keys[1].rmr_context[0],
                 sizeof(struct wire_put));
    else
        is_taken(r);
    memory_close(r, &m);
}

static void twice(struct rank *r)
{
    struct memory m;
    memory_open(r, &m, PAGE);
    for (unsigned i = 0; i < 2 && r->rank == 0; i++)
        send_put(r, 0, m.keys[1].address, m.keys[1].rmr_context[0], WHOLE);
    if (r->rank == 1) {
        /* both may have come before the first is looked for */
        int rc = drail_notify_wait(r->t, 0, NULL, -1);
        check(rc == 0 || rc == DRAIL_EDAT);
        is_refused(r, "sequence of a notification");
    }
    memory_close(r, &m);
}

/* A handle of one page is left of two: the other page may be unmapped. */
static void released_in_part(struct rank *r)
{
    drail_mem_t *whole, *part;
    drail_key_t keys[2];
    unsigned char *pages = memory_two_pages(r, PAGE, &whole, &part);
    exchange_keys(r, whole, keys);
    expect(r, 0, drail_mem_release(whole));
    munmap(pages + PAGE, PAGE);
    barrier(r);
    if (r->rank == 0) {
        send_put(r, 0, keys[1].address + PAGE - BYTES, keys[1].rmr_context[0],
                 WHOLE);
        send_put(r, 1, keys[1].address + PAGE, keys[1].rmr_context[0], WHOLE);
    } else {
        int rc = drail_notify_wait(r->t, 0, NULL, -1);
        check(rc == 0 || rc == DRAIL_EDAT);
        is_refused(r, "key of a put");
        check(pages[PAGE - 1] == 5);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(part));
}

/* A message that has come whole can't be withdrawn. */
static void withdrawn(struct rank *r)
{
    struct wire head = {.type = WIRE_WITHDRAWN, .seq = 0};
    unsigned char byte = 5;
    if (r->rank == 0) {
        expect(r, 0, drail_send(r->t, 1, &byte, 1, NULL));
        falsify = &head;
        expect(r, 0, drail_send(r->t, 1, NULL, 0, NULL));
        falsify = NULL;
    } else {
        is_refused(r, "withdrawal of a message");
    }
}

static void single(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_SINGLE;
}

static const struct test tests[] = {
    {"an address that wraps", 2, wraps, single, 0},
    {"before its memory", 2, before, single, 0},
    {"beyond its memory", 2, beyond, single, 0},
    {"another key", 2, another_key, single, 0},
    {"too short", 2, too_short, single, 0},
    {"no data", 2, no_data, single, 0},
    {"twice", 2, twice, single, 0},
    {"a message is withdrawn", 2, withdrawn, single, 0},
    {"memory that is released in part", 2, released_in_part, single, 0},
};

RUN_TESTS(tests)
