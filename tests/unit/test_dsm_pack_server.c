/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of packs and their answers are puts that nobody waits for: if a rail
 * breaks, the transport may send their bytes again later. */
#include "unit.h"

#include "dsm/pages/pack.h"
#include "dsm/sync/control.h"
#include "dsm/sync/pack_exchange.h"
#include "dsm/sync/pack_server.h"
#include "dsm/sync/peer_wait.h"

enum { RANKS = 3 };
static uint64_t numbers[RANKS], served[RANKS];
static _Atomic uint64_t asked[RANKS], done[RANKS];
static struct pack_part parts[RANKS], part;
static const uint64_t *source[RANKS]; /* of the last put to a rank */
static unsigned reads;
static ddsm_t space = {.size = RANKS,
                       .homes_serve = true,
                       .control = {.pack_parts = parts,
                                   .pack_numbers = numbers,
                                   .packs_served = served,
                                   .packs_asked = asked,
                                   .packs_done = done,
                                   .read_part = &part}};

/* Homes answer at once. */
int control_post(ddsm_t *d, unsigned rank, size_t offset, void *from,
                 size_t bytes)
{
    source[rank] = from;
    done[rank] = *source[rank];
    return 0;
}

/* Nothing is packed for this rank. */
int control_read(ddsm_t *d, unsigned rank, size_t offset, void *to,
                 size_t bytes)
{
    reads++;
    memset(to, 0, bytes);
    return 0;
}

bool pack_apply(ddsm_t *d, const char *from, const char *end)
{
    return true;
}

struct peer_wait peer_wait_begin(const ddsm_t *d)
{
    return (struct peer_wait){0};
}

int peer_wait_inside(ddsm_t *d, struct peer_wait *peer_wait)
{
    return DRAIL_EPEER; /* there is nothing to wait for */
}

int peer_wait_run(ddsm_t *d, dcoll_request_t *request, const char *what)
{
    return 0;
}

int space_break(ddsm_t *d, int rc)
{
    return rc;
}

int space_fail(ddsm_t *d, int rc, const char *format, ...)
{
    return rc;
}

/* Rank 1 is asked once: sent again, its request still has that number. */
static void requests_stay(void **state)
{
    parts[1].bytes = parts[2].bytes = 8;
    assert_int_equal(pack_deliver(&space), 0);
    const uint64_t first = *source[1];
    parts[1].bytes = 0;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pack_deliver(&space), 0);
    assert_int_equal(*source[1], first);
    assert_int_equal(*source[2], first + 3);
    parts[1].bytes = 8;
    assert_int_equal(pack_deliver(&space), 0);
    assert_int_equal(*source[1], first + 1);
}

static void old_requests_are_not_served(void **state)
{
    asked[1] = 2;
    assert_int_equal(pack_serve(&space), 0);
    assert_true(reads == 1 && served[1] == 2);
    asked[1] = 1;
    assert_int_equal(pack_serve(&space), 0);
    assert_true(reads == 1 && served[1] == 2);
    asked[1] = 3;
    assert_int_equal(pack_serve(&space), 0);
    assert_true(reads == 2 && served[1] == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_stay),
        cmocka_unit_test(old_requests_are_not_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
