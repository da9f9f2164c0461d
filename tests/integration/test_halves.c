/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages of any length in halves (Cai et al. 2009, section 4.3): with
 * threshold 0, each of two rails carries N/2. */
#include "dapl_rail/batch.h"

#include "ranks.h"

#define CAPACITY 4096

static void halves(struct rank *r)
{
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[2];
    expect(r, 0,
           drail_mem_alloc(r->t, CAPACITY, DRAIL_ACCESS_ALL, (void **)&bytes,
                           &mem));
    exchange_keys(r, mem, keys);
    for (size_t n = 2; n <= CAPACITY; n += 1 + n / 3) {
        drail_batch_t b = {.xfer = {.local = bytes,
                                    .local_mem = mem,
                                    .remote = &keys[r->peer],
                                    .bytes = n},
                           .count = 20,
                           .await_reply = true,
                           .account = true};
        if (r->rank == 0) {
            memset(bytes, (int)n, n);
            expect(r, 0, drail_batch(r->t, 1, &b));
            size_t half = b.per_rail[0].bytes / 20;
            size_t unit =
                n < 1024 || drail_config_of(r->t)->stripe_align ? 1 : 64;
            check(half <= n / 2 && half + unit > n / 2);
            check(b.per_rail[1].bytes / 20 == n - half);
        } else {
            expect(r, 0, drail_batch_answer(r->t, 0, true, 0, NULL));
            for (size_t i = 0; i < n; i++)
                check(bytes[i] == (unsigned char)n);
        }
        barrier(r); /* the next one may come as soon as this is answered */
    }
    expect(r, 0, drail_mem_release(mem));
}

static void any_length(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

static void to_the_byte(drail_config_t *cfg)
{
    any_length(cfg);
    cfg->stripe_align = 1;
}

static void threaded(drail_config_t *cfg)
{
    any_length(cfg);
    cfg->engine = DRAIL_ENGINE_THREADED;
}

static const struct test tests[] = {
    {"any length", 2, halves, any_length, 0},
    {"to the byte", 2, halves, to_the_byte, 0},
    {"threaded", 2, halves, threaded, 0},
};

RUN_TESTS(tests)
