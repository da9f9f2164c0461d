/* SPDX-License-Identifier: BSD-3-Clause */
/* A poller of an aligned word, alone or at the end of a message, never sees a
 * part of it written. */
#include "peer.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 20000

typedef struct writing {
    end_t *end;
    size_t bytes;
    DAT_RMR_TRIPLET target;
    atomic_bool done;
    const char *wrong;
} writing_t;

/* Writes all zeros and all ones by turns. */
static void *write_rounds(void *arg)
{
    writing_t *w = arg;
    DAT_LMR_TRIPLET iov[2] = {local(&w->end->mem, 0, w->bytes),
                              local(&w->end->mem, 64, w->bytes)};
    memset(w->end->mem.data, 0, 64);
    memset(w->end->mem.data + 64, 0xff, 64);
    for (uint64_t i = 0; i < ROUNDS && !w->wrong; i++)
        if (dat_ep_post_rdma_write(w->end->ep, 1, &iov[i % 2], cookie(i),
                                   &w->target, DAT_COMPLETION_SUPPRESS_FLAG))
            w->wrong = "a post failed";
    atomic_store(&w->done, true);
    return NULL;
}

static uint64_t load(const void *word, size_t bytes)
{
    switch (bytes) {
    case 2:
        return __atomic_load_n((const uint16_t *)word, __ATOMIC_RELAXED);
    case 4:
        return __atomic_load_n((const uint32_t *)word, __ATOMIC_RELAXED);
    default:
        return __atomic_load_n((const uint64_t *)word, __ATOMIC_RELAXED);
    }
}

/* A word at the end of messages of @p bytes. */
static void watch(end_t *a, end_t *b, size_t word, size_t bytes)
{
    pthread_t thread;
    writing_t w = {
        .end = a, .bytes = bytes, .target = remote(&b->mem, 64 - bytes, bytes)};
    const void *watched = b->mem.data + 64 - word;
    uint64_t ones = word == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * word) - 1;
    memset(b->mem.data, 0, 64);
    assert_int_equal(pthread_create(&thread, NULL, write_rounds, &w), 0);
    uint64_t seen = 0;
    while (!atomic_load(&w.done) && (!seen || seen == ones))
        seen = load(watched, word);
    pthread_join(thread, NULL);
    assert_null(w.wrong);
    if (seen && seen != ones)
        fail_msg("%zu of %zu bytes: 0x%llx", word, bytes,
                 (unsigned long long)seen);
}

static void never_torn(void **state)
{
    static const size_t bytes[] = {12, 24, 40, 44};
    memory_kind_t kind = *(memory_kind_t *)*state;
    end_t a, b;
    end_open_memory(&a, MEMORY_MALLOC, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_open_memory(&b, kind, 4096, DAT_MEM_PRIV_ALL_FLAG);
    end_connect_both(&a, &b);
    for (size_t word = 2; word <= 8; word *= 2) {
        watch(&a, &b, word, word);
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
            if (bytes[i] % word == 0)
                watch(&a, &b, word, bytes[i]);
    }
    ends_close(&a, &b);
}

int main(void)
{
    static memory_kind_t mapped = MEMORY_MEMFD, private_memory = MEMORY_MALLOC;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(never_torn, &mapped),
        cmocka_unit_test_prestate(never_torn, &private_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
