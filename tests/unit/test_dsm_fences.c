/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences of shared memory. A processor may keep a store back until a fence, and
 * show stores that come later, or load, before it. Here stores are kept back as
 * long as that is allowed: what a fence is for goes wrong without it.
 */
#include "unit.h"
#include "meanwhile.h"

#include <stdatomic.h>

#include "dsm/base/rdma.h"
#include "dsm/pages/coalesce.h"
#include "dsm/pages/exclusive.h"
#include "dsm/pages/pages.h"
#include "dsm/sync/control.h"
#include "dsm/sync/notices.h"
#include "dsm/sync/ticket.h"

/* ------------------------------------------------ stores that come late --- */

struct late {
    char *to;
    size_t bytes;
    char value[64];
    bool is_sent; /* an RDMA write that has not arrived at the processor yet */
};
static struct late late[64];
static unsigned lates, late_rank,
    acting; /* whose stores; which rank acts now */

static void keep_back(void *to, const void *value, size_t bytes, bool is_sent)
{
    assert_true(lates < sizeof late / sizeof *late && bytes <= 64);
    late[lates] = (struct late){to, bytes, {0}, is_sent};
    memcpy(late[lates++].value, value, bytes);
}

static void show(struct late *store)
{
    memcpy(store->to, store->value, store->bytes);
}

/* Stores to one place stay in their order: an atomic operation sees those. */
static void show_at(const void *place)
{
    unsigned n = 0;
    for (unsigned i = 0; i < lates; i++)
        if (late[i].to == place)
            show(&late[i]);
        else
            late[n++] = late[i];
    lates = n;
}

static void fence(void)
{
    unsigned n = 0;
    if (acting != late_rank)
        return;
    for (unsigned i = 0; i < lates; i++)
        if (late[i].is_sent)
            late[n++] = late[i];
        else
            show(&late[i]);
    lates = n;
}

/* A release store shows what came before, but what comes after may show first:
 * so others act here. */
static void (*others)(void);

static void store_late(void *to, uint64_t value)
{
    if (others)
        others();
    keep_back(to, &value, sizeof value, false);
}

/* The sources again, with these fences and stores. */
#undef atomic_thread_fence
#define atomic_thread_fence(order) fence()
#include "dsm/pages/exclusive.c"
#include "dsm/sync/ticket.c"
#undef atomic_store
#define atomic_store(object, value) store_late((void *)(object), value)
#include "dsm/sync/notices.c"

/* ------------------------------------------------- two ranks; 0 is home --- */

enum { PAGES = 8, LOCK = 64 };
static struct memory {
    struct notice_log log;
    char locks[512], copied[PAGES], copied_blocks[1];
} home;
static struct page page[2][PAGES];
static struct page_cost cost[2][PAGES];
static uint32_t written[2][PAGES];
static uint64_t known[2][2], slots[2][TICKET_ABANDONED_MAX], word[2], reserved;
static struct range range[LOG_RANGES];
static drail_key_t keys[2];
static char ones[COPIED_ONES];
static ddsm_t space[2];

static void begin(void)
{
    memset(&home, 0, sizeof home);
    memset(page, 0, sizeof page);
    memset(known, 0, sizeof known);
    memset(ones, 1, sizeof ones);
    others = NULL;
    lates = late_rank = acting = 0;
    for (unsigned r = 0; r < 2; r++)
        space[r] = (ddsm_t){
            .rank = r,
            .size = 2,
            .t = (drail_t *)&space[r],
            .pages = PAGES,
            .used = PAGES,
            .moving_end = PAGES,
            .page = page[r],
            .cost = cost[r],
            .written = {written[r], 0},
            .vector_clock = known[r],
            .control = {.start = (char *)&home,
                        .log = &home.log,
                        .keys = keys,
                        .copied = home.copied,
                        .copied_blocks = home.copied_blocks,
                        .copied_offset = offsetof(struct memory, copied),
                        .copied_blocks_offset =
                            offsetof(struct memory, copied_blocks),
                        .abandoned = slots[r],
                        .word = &word[r],
                        .reserved = &reserved,
                        .range = range,
                        .ones = ones}};
}

/* Stores of atomics come late, as do RDMA writes; the rank's own loads see
 * them. */
int drail_atomic(drail_t *t, unsigned peer, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t offset, uint64_t operand,
                 uint64_t compare, uint64_t *old)
{
    char *at = (char *)&home + offset;
    uint64_t before;
    access_memory();
    show_at(at);
    memcpy(&before, at, sizeof before);
    const uint64_t after = op == DRAIL_FETCH_ADD ? before + operand
                           : before == compare   ? operand
                                                 : before;
    if (t == (drail_t *)&space[late_rank])
        keep_back(at, &after, sizeof after, false);
    else
        memcpy(at, &after, sizeof after);
    if (old)
        *old = before;
    return 0;
}

int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes)
{
    const char *from = (char *)&home + offset;
    access_memory();
    memcpy(to, from, bytes);
    for (unsigned i = 0; i < lates && d->rank == late_rank; i++)
        if (late[i].to >= from && late[i].to < from + bytes)
            memcpy((char *)to + (late[i].to - from), late[i].value,
                   late[i].bytes);
    return 0;
}

int drail_put(drail_t *t, unsigned peer, const drail_xfer_t *xfer,
              unsigned flags, uint32_t id, drail_req_t *req)
{
    keep_back((char *)&home + xfer->remote_offset, xfer->local, xfer->bytes,
              true);
    return 0;
}

int drail_fence(drail_t *t, unsigned peer)
{
    for (unsigned i = 0; i < lates; i++)
        late[i].is_sent = false;
    return 0;
}

int drail_progress(drail_t *t)
{
    return 0;
}

int pages_set(ddsm_t *d, size_t first, size_t count, enum page_state state)
{
    for (size_t p = first; p < first + count; p++)
        d->page[p].state = (uint8_t)state;
    return 0;
}

void pages_notice(ddsm_t *d, size_t p)
{
    d->page[p].written = true;
}

void pages_count_change(struct page *p)
{
    p->changes++;
}

void pages_sort(struct page_list *list)
{
}

size_t pages_run(const struct page_list *list, size_t from)
{
    return 1;
}

int coalesce_mappings(ddsm_t *d)
{
    return DRAIL_ENOMEM;
}

int flush_range(ddsm_t *d, size_t first, size_t count)
{
    return 0;
}

int space_break(ddsm_t *d, int rc)
{
    return rc;
}

int space_break_rails(ddsm_t *d, int rc, const char *what)
{
    return rc;
}

int space_fail(ddsm_t *d, int rc, const char *format, ...)
{
    return rc;
}

/* ----------------------------------------------------------------- tests ---
 */

/* The home has ticket 0, rank 1 ticket 1, and a third rank ticket 2. Two of
 * them leave or pass, of which one is the home. */
static const struct lock lock = {
    .home = 0, .offset = offsetof(struct memory, locks) + LOCK};

static void act(unsigned rank,
                int (*by)(ddsm_t *, const struct lock *, uint32_t),
                uint32_t ticket)
{
    const unsigned before = acting;
    acting = rank;
    assert_int_equal(by(&space[rank], &lock, ticket), 0);
    acting = before;
}

static void home_passes(void)
{
    act(0, ticket_pass, 0);
}

static void home_leaves(void)
{
    act(0, ticket_abandon, 1);
}

static void other_passes(void)
{
    act(1, ticket_pass, 0);
}

static void other_leaves(void)
{
    act(1, ticket_abandon, 1);
}

/* Ticket 2 has its turn, whatever the home's stores are late for. */
static void ends_well(void)
{
    uint64_t now;
    countdown = -1;
    fence();
    memcpy(&now, home.locks + LOCK, sizeof now);
    assert_true(now == ((uint64_t)3 << 40 | 2));
    for (size_t i = LOCK + 8; i < sizeof home.locks; i++)
        assert_int_equal(home.locks[i], 0);
}

/* Before the n-th access of @one, @other runs to its end. */
static void interleave(void (*one)(void), void (*other)(void))
{
    bool between = true;
    for (int n = 0; between; n++) {
        begin();
        memcpy(home.locks + LOCK, &(uint64_t){(uint64_t)3 << 40}, 8);
        countdown = n;
        meanwhile = other;
        one();
        between = countdown < 0;
        countdown = -1;
        if (!between)
            other();
        ends_well();
    }
}

static void turns_are_not_lost(void **state)
{
    interleave(home_leaves, other_passes);
    interleave(other_passes, home_leaves);
    interleave(home_passes, other_leaves);
    interleave(other_leaves, home_passes);
}

/* Rank 1 reads a log of rank 0 that is full, and whose first range is being
 * overwritten. */
static void read_log_of_home(void)
{
    known[1][0] = 0;
    page[1][2].state = PAGE_CLEAN;
    assert_int_equal(notices_apply(&space[1], 0, LOG_RANGES, NULL), 0);
    assert_int_equal(page[1][2].state, PAGE_INVALID);
}

static void overwritten_ranges_are_noticed(void **state)
{
    begin();
    countdown = -1;
    for (unsigned i = 0; i < LOG_RANGES; i++)
        home.log.range[i] = (struct range){i ? 1 : 2, 1};
    home.log.reserved = space[0].log_end = LOG_RANGES;
    for (unsigned p = 0; p < PAGES; p++)
        page[1][p].state = PAGE_CLEAN;
    written[0][0] = 3;
    space[0].written.count = 1;
    others = read_log_of_home;
    notices_append(&space[0]);
    fence();
    assert_true(home.log.end == LOG_RANGES + 1);
    assert_true(home.log.range[0].first == 3);
}

enum { MOVING = 5 };

static void begin_exclusive(void)
{
    begin();
    for (unsigned r = 0; r < 2; r++)
        page[r][MOVING] = (struct page){.kind = DDSM_MOVING,
                                        .exclusive = true,
                                        .state = r ? PAGE_INVALID : PAGE_DIRTY};
}

/* Rank 1 fetches the home's page: it has told so before it reads the page. */
static void told_before_it_is_read(void **state)
{
    begin_exclusive();
    late_rank = acting = 1;
    assert_int_equal(exclusive_tell(&space[1], 0, PAGES), 0);
    acting = 0;
    assert_int_equal(exclusive_look(&space[0]), 0);
    assert_true(page[0][MOVING].written);
    assert_int_equal(page[0][MOVING].state, PAGE_CLEAN);
}

/* The home looks, and finds nothing: then its writes before that are there for
 * a rank that fetches the page later. */
static void written_before_it_looks(void **state)
{
    char contents = 0;
    begin_exclusive();
    keep_back(&contents, "\1", 1, false);
    assert_int_equal(exclusive_look(&space[0]), 0);
    assert_false(page[0][MOVING].written);
    assert_int_equal(contents, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(turns_are_not_lost),
        cmocka_unit_test(overwritten_ranges_are_noticed),
        cmocka_unit_test(told_before_it_is_read),
        cmocka_unit_test(written_before_it_looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
