/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An RDMA write that the target refuses, with a notification after it: its own
 * completion is suppressed, but what went wrong is told all the same.
 */
#include "dapl_rail/batch.h"

#include "ranks.h"

#define BYTES 4096u

static void refused(struct rank *r, bool batch)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    unsigned char *memory;
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_REMOTE_READ,
                           (void **)&memory, &mem));
    exchange_keys(r, mem, keys);
    if (r->rank == 0) {
        drail_batch_t ask = {.xfer = {.local = memory,
                                      .local_mem = mem,
                                      .remote = &keys[1],
                                      .bytes = BYTES},
                             .count = 3};
        drail_req_t req;
        memset(memory, 1, BYTES);
        int rc = batch ? drail_batch(r->t, 1, &ask)
                       : drail_put(r->t, 1, &ask.xfer, DRAIL_NOTIFY, 0, &req);
        if (!rc)
            rc = drail_wait(r->t, &req, -1);
        expect(r, DRAIL_EACCESS, rc);
        check(strstr(drail_last_error(r->t), "REMOTE_ACCESS") != NULL);
    } else {
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, 0, NULL, -1));
        for (unsigned i = 0; i < BYTES; i++)
            check(memory[i] == 0);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void put(struct rank *r)
{
    refused(r, false);
}

static void batch(struct rank *r)
{
    refused(r, true);
}

static void by_send(drail_config_t *cfg)
{
    cfg->notify_by = DRAIL_NOTIFY_BY_SEND;
}

static const struct test tests[] = {
    {"put", 2, put, by_send, 0},
    {"batch", 2, batch, by_send, 0},
    {"put, notified as the provider can", 2, put, NULL, 0},
};

RUN_TESTS(tests)
