/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank that takes a lock of shared memory sees the writes of others under it,
 * also if their tickets have begun anew and it is this rank's turn again. */
#include "unit.h"
#include "dsm/sync/control.h"
#include "dsm/sync/ticket.h"

/* ------------------------------ control memory of two ranks; 0 is home --- */

static struct control_memory {
    struct notice_log log;
    uint64_t word, clock[2], left[TICKET_ABANDONED_MAX];
    _Atomic uint64_t rounds;
} memory[2];

static struct rank {
    uint64_t clock[2], seen[2], left[TICKET_ABANDONED_MAX], word, reserved;
    struct range range[LOG_RANGES];
    struct held held;
    drail_key_t keys[2];
    ddsm_t space;
} ranks[2];

static char *at(unsigned rank, size_t offset)
{
    return (char *)&memory[rank] + offset;
}

static void begin(unsigned rank)
{
    struct rank *r = &ranks[rank];
    r->space = (ddsm_t){
        .cfg = {.locks = 1, .wait_ms = -1},
        .size = 2,
        .pages = 1,
        .rank = rank,
        .vector_clock = r->seen,
        .held = &r->held,
        .mutex = PTHREAD_MUTEX_INITIALIZER,
        .control = {.start = at(rank, 0),
                    .log = &memory[rank].log,
                    .keys = r->keys,
                    .locks_offset = offsetof(struct control_memory, word),
                    .ticket_rounds_offset =
                        offsetof(struct control_memory, rounds),
                    .ticket_rounds = &memory[rank].rounds,
                    .clock = r->clock,
                    .abandoned = r->left,
                    .word = &r->word,
                    .reserved = &r->reserved,
                    .range = r->range}};
}

int drail_atomic(drail_t *rail, unsigned peer, drail_atomic_t op,
                 const drail_key_t *remote, uint64_t offset, uint64_t operand,
                 uint64_t compare, uint64_t *old)
{
    uint64_t *word = (uint64_t *)at(peer, offset);
    const uint64_t before = *word;
    if (op == DRAIL_FETCH_ADD)
        *word += operand;
    else if (before == compare)
        *word = operand;
    if (old)
        *old = before;
    return 0;
}

int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes)
{
    memcpy(to, at(rank, offset), bytes);
    return 0;
}

int control_write(ddsm_t *d, unsigned rank, size_t offset, void *from,
                  size_t bytes)
{
    memcpy(at(rank, offset), from, bytes);
    return 0;
}

int control_post(ddsm_t *d, unsigned rank, size_t offset, void *from,
                 size_t bytes)
{
    return control_write(d, rank, offset, from, bytes);
}

int control_probe(ddsm_t *d, unsigned rank)
{
    return 0;
}

/* ----------------------------------------------------------------- tests ---
 */

typedef int take_t(ddsm_t *d, unsigned lock);

static void hold(unsigned rank, take_t *take)
{
    assert_int_equal(take(&ranks[rank].space, 0), 0);
    assert_int_equal(ddsm_unlock(&ranks[rank].space, 0), 0);
}

/* That ticket is next, and has its turn at once. */
static void next_is(uint32_t ticket)
{
    ticket &= TICKET_MAX;
    memory[0].word = (uint64_t)ticket << 40 | ticket;
}

/* Rank 0 has all turns of a round, of which some are enough here, and in the
 * last one leaves something to learn: a range of no page. */
static void round_after(uint32_t mine, take_t *take)
{
    const uint32_t half = TICKET_MAX >> 1;
    memset(memory, 0, sizeof memory);
    memset(ranks, 0, sizeof ranks);
    begin(0);
    begin(1);
    next_is(mine);
    hold(1, ddsm_lock);
    next_is(half);
    hold(0, take);
    next_is(TICKET_MAX);
    hold(0, take);
    memory[0].log.reserved = memory[0].clock[0] = 1;
    next_is(mine + 1);
    hold(1, ddsm_lock);
    assert_int_equal(ranks[1].seen[0], 1);
}

static void test_tickets_anew(void **state)
{
    const uint32_t half = TICKET_MAX >> 1;
    const uint32_t mine[] = {0,        half - 1,       half,
                             half + 1, TICKET_MAX - 1, TICKET_MAX};
    for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) {
        round_after(mine[i], ddsm_lock);
        round_after(mine[i], ddsm_trylock);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tickets_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
