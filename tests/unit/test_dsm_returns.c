/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocks of the heap that go back to their owners. What the heap's mutex
 * protects is there only while the mutex is held. */
#include "unit.h"
#include "dsm/base/rdma.h"
#include "dsm/heap/returns.h"
#include "dsm/heap/spans.h"
#include "tests/stand_in.h"

enum { MOST = 1000 };
static char memory[MOST];
static struct ring rings[2]; /* of rank 1, the owner */
static struct returned stage[RING_ENTRIES];
static uint64_t tail, answer, clocks[2];
static struct freed freed[2], hidden[2];
static drail_key_t keys[2];
static struct heap heap = {.start = memory,
                           .freed = freed,
                           .keys = keys,
                           .ring = rings,
                           .stage = stage,
                           .tail = &tail,
                           .answer = &answer,
                           .mutex = PTHREAD_MUTEX_INITIALIZER};
static ddsm_t space = {.size = 2, .heap = &heap, .vector_clock = clocks};
static bool is_held;
static size_t given;

/* What other threads may change at any time. */
static void swap_lists(void)
{
    for (unsigned r = 0; r < 2; r++) {
        struct freed *f = &freed[r], *h = &hidden[r], shown = *f;
        f->block = h->block, f->count = h->count, f->room = h->room;
        h->block = shown.block, h->count = shown.count, h->room = shown.room;
    }
}

STAND_IN int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    assert_true(mutex == &heap.mutex && !is_held);
    is_held = true;
    swap_lists();
    return 0;
}

STAND_IN int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    assert_true(mutex == &heap.mutex && is_held);
    is_held = false;
    swap_lists();
    return 0;
}

bool spans_give(struct heap *h, const char *block)
{
    assert_true(is_held);
    assert_int_equal(block - memory, given++);
    return true;
}

int rdma_write(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer)
{
    assert_int_equal(rank, 1);
    memcpy((char *)rings + xfer->remote_offset, xfer->local, xfer->bytes);
    return 0;
}

int rdma_read(ddsm_t *d, unsigned rank, const drail_xfer_t *xfer)
{
    memcpy(xfer->local, (char *)rings + xfer->remote_offset, xfer->bytes);
    return 0;
}

int space_break_rails(ddsm_t *d, int rc, const char *what)
{
    return rc;
}

static void as_rank(unsigned rank)
{
    space.rank = rank;
    space.log_end = 7;
}

/* Rank 0 frees blocks of rank 1, which has them again when it knows what rank 0
 * has written: all in their order, each once. */
static void come_back(void **state)
{
    for (size_t i = 0, first = 0; i < MOST; i++) {
        pthread_mutex_lock(&heap.mutex);
        assert_true(returns_add(&heap, 1, memory + i));
        pthread_mutex_unlock(&heap.mutex);
        if (i % 300 != 299 && i != MOST - 1)
            continue;
        as_rank(0);
        returns_collect(&space);
        assert_int_equal(freed[1].ready, i + 1 - first);
        assert_int_equal(returns_hand_over(&space), 0);
        assert_int_equal(heap.waiting, 0);
        as_rank(1);
        clocks[0] = 6;
        returns_take(&space);
        assert_int_equal(given, first);
        clocks[0] = 7;
        returns_take(&space);
        first = i + 1;
        assert_int_equal(given, first);
    }
    free(hidden[1].block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(come_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
