/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on shared memory. They are carried out at the word's home, on the 8
 * bytes around it, as the rails have no shorter ones: fetch-and-add of 8 bytes
 * directly, all others by compare-and-swap.
 *
 * If this rank has a copy of the page, the result is stored there too, so that
 * its plain reads see it. If it has written the word in its copy before, that
 * value goes home first. The word then equals its twin, and no later flush
 * writes it home.
 */
#include <string.h>

#include "dsm/base/enter.h"
#include "dsm/base/rdma.h"
#include "dsm/pages/pages.h"

/* The 8 bytes around a word, and where it lies in them. */
struct around {
    unsigned home;
    size_t page, offset; /* in the store, a multiple of 8 */
    size_t at, bytes;    /* of the word, in the 8 bytes */
};

static uint64_t word_in(const struct around *a, uint64_t eight)
{
    char bytes[8];
    uint8_t one;
    uint16_t two;
    uint32_t four;
    memcpy(bytes, &eight, 8);
    switch (a->bytes) {
    case 1:
        memcpy(&one, bytes + a->at, 1);
        return one;
    case 2:
        memcpy(&two, bytes + a->at, 2);
        return two;
    case 4:
        memcpy(&four, bytes + a->at, 4);
        return four;
    default:
        return eight;
    }
}

/* Stores the word without its neighbours, which other threads may write. */
static void store_word(char *to, uint64_t value, size_t bytes)
{
    switch (bytes) {
    case 1:
        __atomic_store_n((uint8_t *)to, (uint8_t)value, __ATOMIC_RELAXED);
        break;
    case 2:
        __atomic_store_n((uint16_t *)to, (uint16_t)value, __ATOMIC_RELAXED);
        break;
    case 4:
        __atomic_store_n((uint32_t *)to, (uint32_t)value, __ATOMIC_RELAXED);
        break;
    default:
        __atomic_store_n((uint64_t *)to, value, __ATOMIC_RELAXED);
    }
}

static uint64_t with_word(const struct around *a, uint64_t eight,
                          uint64_t value)
{
    store_word((char *)&eight + a->at, value, a->bytes);
    return eight;
}

static uint64_t result_of(ddsm_atomic_t op, uint64_t old, uint64_t operand,
                          uint64_t expected)
{
    switch (op) {
    case DDSM_LOAD:
        return old;
    case DDSM_ADD:
        return old + operand;
    case DDSM_AND:
        return old & operand;
    case DDSM_OR:
        return old | operand;
    case DDSM_XOR:
        return old ^ operand;
    case DDSM_COMPARE_SWAP:
        return old == expected ? operand : old;
    case DDSM_STORE:
    case DDSM_EXCHANGE:
    default:
        return operand;
    }
}

static uint64_t in_shared_page(uint64_t *word, drail_atomic_t op,
                               uint64_t operand, uint64_t compare)
{
    if (op == DRAIL_FETCH_ADD)
        return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(word, &compare, operand, false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return compare;
}

static int at_home(ddsm_t *d, const struct around *a, drail_atomic_t op,
                   uint64_t operand, uint64_t compare, uint64_t *old)
{
    if (d->is_shared) {
        uint64_t *word = (uint64_t *)(d->store + a->offset);
        *old = in_shared_page(word, op, operand, compare);
        return 0;
    }
    int rc = drail_atomic(d->t, a->home, op, &d->store_keys[a->home], a->offset,
                          operand, compare, old);
    return rc ? space_break_rails(d, rc, "atomic") : 0;
}

/* Compare-and-swap of the whole 8 bytes, until they are as guessed. The first
 * guess is what the store has here, which may be old. */
static int swap_until_done(ddsm_t *d, const struct around *a, ddsm_atomic_t op,
                           uint64_t operand, uint64_t expected, uint64_t *old)
{
    uint64_t guess, seen;
    memcpy(&guess, d->store + a->offset, sizeof guess);
    for (;;) {
        const uint64_t word =
            result_of(op, word_in(a, guess), operand, expected);
        int rc = at_home(d, a, DRAIL_CMP_SWAP, with_word(a, guess, word), guess,
                         &seen);
        if (rc)
            return rc;
        if (seen == guess)
            break;
        guess = seen;
    }
    *old = word_in(a, seen);
    return 0;
}

/* Writes the word home if this rank's plain writes have changed its copy. */
static int write_word_home(ddsm_t *d, const struct around *a)
{
    const size_t at = a->offset + a->at;
    const drail_xfer_t xfer = {.local = d->store + at,
                               .local_mem = d->store_mem,
                               .remote = &d->store_keys[a->home],
                               .remote_offset = at,
                               .bytes = a->bytes};
    if (d->page[a->page].state != PAGE_DIRTY ||
        !memcmp(d->store + at, d->twins + at, a->bytes))
        return 0;
    memcpy(d->twins + at, d->store + at, a->bytes);
    pages_announce(d, a->page);
    int rc = rdma_write(d, a->home, &xfer);
    return rc ? space_break_rails(d, rc, "atomic") : 0;
}

static void update_copy(ddsm_t *d, const struct around *a, uint64_t value)
{
    const size_t at = a->offset + a->at;
    const uint8_t state = d->page[a->page].state;
    if (state == PAGE_DIRTY)
        store_word(d->twins + at, value, a->bytes);
    if (state == PAGE_DIRTY || state == PAGE_CLEAN || d->page[a->page].held)
        store_word(d->store + at, value, a->bytes);
}

/* Other ranks' copies are old from now on. An exclusive page has no copies, and
 * the home of a DDSM_OPEN page writes no notices. */
static void announce(ddsm_t *d, size_t page)
{
    const struct page *p = &d->page[page];
    if (p->home != d->rank || !(p->exclusive || p->kind == DDSM_OPEN))
        pages_announce(d, page);
}

static int carry_out(ddsm_t *d, const struct around *a, ddsm_atomic_t op,
                     uint64_t operand, uint64_t expected, uint64_t *old)
{
    const bool away = a->home != d->rank;
    const bool adds = op == DDSM_ADD || op == DDSM_LOAD;
    int rc = away ? write_word_home(d, a) : 0;
    if (rc)
        return rc;
    if (adds && a->bytes == 8)
        rc = at_home(d, a, DRAIL_FETCH_ADD, op == DDSM_ADD ? operand : 0, 0,
                     old);
    else
        rc = swap_until_done(d, a, op, operand, expected, old);
    if (rc)
        return rc;
    const uint64_t result = result_of(op, *old, operand, expected);
    if (away)
        update_copy(d, a, result);
    if (result != *old)
        announce(d, a->page);
    return 0;
}

static int find_word(ddsm_t *d, const void *word, size_t bytes,
                     struct around *a)
{
    const size_t page = page_at(d, word);
    const size_t inside = (uintptr_t)word & (page_bytes(d) - 1);
    if ((bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) ||
        (uintptr_t)word % bytes || page == PAGE_NONE ||
        d->page[page].state == PAGE_UNUSED)
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_atomic: %zu bytes at %p are not an aligned "
                          "word of 1, 2, 4 or 8 bytes in allocated memory",
                          bytes, word);
    *a = (struct around){.home = d->page[page].home,
                         .page = page,
                         .offset = (page << d->page_shift) + (inside & ~7ul),
                         .at = inside & 7,
                         .bytes = bytes};
    return 0;
}

int ddsm_atomic(ddsm_t *d, ddsm_atomic_t op, void *word, size_t bytes,
                uint64_t operand, uint64_t expected, uint64_t *old)
{
    struct around a = {0};
    uint64_t before = 0;
    if (!d)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken ? d->broken : find_word(d, word, bytes, &a);
    if (!rc && op > DDSM_XOR)
        rc = space_fail(d, DRAIL_EINVAL, "ddsm_atomic: operation %d", op);
    if (!rc && bytes < 8)
        expected &= ((uint64_t)1 << 8 * bytes) - 1;
    if (!rc)
        rc = carry_out(d, &a, op, operand, expected, &before);
    space_leave(d);
    if (!rc && old)
        *old = before;
    return rc;
}
