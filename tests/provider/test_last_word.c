/* SPDX-License-Identifier: BSD-3-Clause */
/* A consumer that polls the last word of an RDMA write finds all of it in its
 * memory, and one that polls the first word finds it whole. Processors may
 * store the bytes of one copy in any order. */
#include "peer.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "dapl_rail/platform/busywait.h"

#define LONGEST ((1u << 20) + 64)
#define EACH_NS 120000000u
/* Of the source, from two rounds to the next: `rep movsb` splits words for some
 * distances of source and target. The second of two may be copied backward. */
#define SHIFT 73
#define PAGE  4096
/* One write of these many has a completion: only then a send queue of verbs
 * has room again. */
#define SIGNALLED 8

typedef struct writing {
    end_t *end;
    size_t bytes;
    DAT_RMR_TRIPLET target;
    _Atomic uint64_t seen; /* the last round that the poller has checked */
    atomic_bool over;
    _Atomic DAT_RETURN failed;
} writing_t;

/* Each half of a word tells the round. */
static uint64_t word_of(uint64_t round)
{
    return round << 32 | (uint32_t)round;
}

static void *write_rounds(void *arg)
{
    writing_t *w = arg;
    DAT_EVENT event;
    DAT_COUNT more;
    for (uint64_t round = 1; !w->over && !w->failed; round++) {
        size_t at = round / 2 * SHIFT % PAGE;
        DAT_LMR_TRIPLET from = local(&w->end->mem, at, w->bytes);
        uint64_t word = word_of(round);
        for (size_t i = 0; i < w->bytes; i += sizeof word)
            memcpy(w->end->mem.data + at + i, &word, sizeof word);
        DAT_COMPLETION_FLAGS flags = round % SIGNALLED == 1
                                         ? DAT_COMPLETION_DEFAULT_FLAG
                                         : DAT_COMPLETION_SUPPRESS_FLAG;
        DAT_RETURN ret = dat_ep_post_rdma_write(
            w->end->ep, 1, &from, cookie(round), &w->target, flags);
        if (!ret && flags == DAT_COMPLETION_DEFAULT_FLAG)
            ret =
                dat_evd_wait(w->end->request, WAIT_MS * 1000, 1, &event, &more);
        if (ret)
            w->failed = ret;
        while (atomic_load(&w->seen) != round && !w->over)
            sched_yield(); /* the provider's threads need a core */
    }
    return NULL;
}

/* How many of these words are not there, although the round's last word is. */
static size_t late(const _Atomic uint64_t *words, size_t n, uint64_t round)
{
    size_t late = 0;
    for (size_t i = n; i-- > 0;)
        late += atomic_load_explicit(&words[i], memory_order_relaxed) !=
                word_of(round);
    return late;
}

static bool is_torn(uint64_t word)
{
    return (uint32_t)word != word >> 32;
}

static void poll_rounds(end_t *a, end_t *b, size_t bytes)
{
    pthread_t thread;
    size_t last = bytes / 8 - 1, wrong = 0, torn = 0;
    const _Atomic uint64_t *words = (_Atomic uint64_t *)b->mem.data;
    writing_t w = {
        .end = a, .bytes = bytes, .target = remote(&b->mem, 0, bytes)};
    uint64_t round = 0, end = busywait_now_ns() + EACH_NS;
    memset(b->mem.data, 0, bytes);
    assert_int_equal(pthread_create(&thread, NULL, write_rounds, &w), 0);
    for (; busywait_now_ns() < end && !w.failed; round++) {
        while (atomic_load(&words[last]) != word_of(round + 1) && !w.failed)
            torn += is_torn(atomic_load(&words[0]));
        wrong += late(words, last, round + 1) > 0;
        atomic_store(&w.seen, round + 1);
    }
    w.over = true;
    pthread_join(thread, NULL);
    DAT_OK(w.failed);
    if (wrong || torn)
        fail_msg("%zu bytes: %zu of %llu writes were incomplete, the first "
                 "word %zu times",
                 bytes, wrong, (unsigned long long)round, torn);
}

static void words_are_whole(void **state)
{
    static const size_t bytes[] = {16, 96, 128, 256, 1024, 4032, 8384, LONGEST};
    for (memory_kind_t kind = 0; kind < MEMORY_KINDS; kind++) {
        end_t a, b;
        ends_open(&a, &b, kind, LONGEST + PAGE);
        end_connect_both(&a, &b);
        for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++)
            poll_rounds(&a, &b, bytes[i]);
        ends_close(&a, &b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
