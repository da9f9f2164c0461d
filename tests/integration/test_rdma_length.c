/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A provider that sets no limit to an RDMA: a transfer that is longer than a
 * DTO can say (DAT_SEG_LENGTH) takes several. Stands in for the provider at its
 * own calls, and carries out writes of a few bytes instead.
 */
#include "memory.h"
#include "rdma_limit.h"

#define LONG ((size_t)4 << 30)
#define FEW  64u

static uint64_t written; /* bytes that it was to write, … */
static uint64_t next;    /* … up to this address */

STAND_IN DAT_RETURN dat_ep_post_rdma_write(DAT_EP_HANDLE ep, DAT_COUNT n,
                                           DAT_LMR_TRIPLET *local,
                                           DAT_DTO_COOKIE cookie,
                                           const DAT_RMR_TRIPLET *remote,
                                           DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET few = *local;
    DAT_RMR_TRIPLET there = *remote;
    check(local->segment_length == remote->segment_length);
    check(!next || remote->virtual_address == next);
    next = remote->virtual_address + remote->segment_length;
    written += local->segment_length;
    if (few.segment_length > FEW)
        few.segment_length = there.segment_length = FEW;
    return real(dat_ep_post_rdma_write)(ep, n, &few, cookie, &there, flags);
}

static void put_long(struct rank *r)
{
    static const size_t beyond[] = {0, 1, FEW, 65536 + 7, LONG + 3};
    drail_key_t keys[2];
    drail_mem_t *mem;
    size_t room = 2 * LONG + FEW;
    void *bytes = mmap(NULL, room, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    check(bytes != MAP_FAILED);
    expect(r, 0, drail_mem_register(r->t, bytes, room, DRAIL_ACCESS_ALL, &mem));
    exchange_keys(r, mem, keys);
    for (unsigned i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        drail_xfer_t x = {.local = bytes,
                          .local_mem = mem,
                          .remote = &keys[r->peer],
                          .bytes = LONG + beyond[i]};
        drail_req_t req;
        written = next = 0;
        expect(r, 0, drail_put(r->t, r->peer, &x, 0, 0, &req));
        expect(r, 0, drail_wait(r->t, &req, -1));
        check(written == x.bytes);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
    munmap(bytes, room);
}

static void unlimited(drail_config_t *cfg)
{
    one_rail(cfg);
    rdma_limit = UINT32_MAX;
}

static void untold(drail_config_t *cfg)
{
    one_rail(cfg);
    rdma_limit = 0;
}

static const struct test tests[] = {
    {"as much as can be said", 2, put_long, unlimited, 0},
    {"none told", 2, put_long, untold, 0},
};

RUN_TESTS(tests)
