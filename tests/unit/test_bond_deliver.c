/* SPDX-License-Identifier: BSD-3-Clause */
/* A bond checks the lengths that a peer tells. Either the consumer learns how
 * many bytes its receive really holds, or the connection breaks. */
#include "unit.h"

#include "providers/bond/links/links.h"
#include "providers/bond/message/message.h"

#define ROOM 64u

static struct bond_ia ia;
static struct core_ep ep;
static struct core_wqe receive;
static unsigned char memory[2 * ROOM];
static struct bond_conn conn;
static struct {
    unsigned count;
    DAT_DTO_COMPLETION_STATUS status;
    uint64_t length;
} done;

/* --------------------------------------------- instead of core and bond --- */

struct core_wqe *core_recv_peek(struct core_ep *ep_, struct core_wqe *copy)
{
    *copy = receive;
    return copy;
}

bool core_recv_done(struct core_ep *ep_, const struct core_wqe *w,
                    DAT_DTO_COMPLETION_STATUS status, uint64_t length,
                    bool solicited, const uint32_t *immed)
{
    done.count++;
    done.status = status;
    done.length = length;
    return true;
}

void bond_news_send(struct bond_conn *c)
{
}

void bond_atomic_execute(struct bond_conn *c, const struct bond_header *h)
{
}

void bond_slot_done(struct bond_slot *slot)
{
}

void bond_give_up(struct bond_conn *c)
{
    atomic_store(&c->aborted, true);
}

/* ---------------------------------------------------------------- tests --- */

static void begin(void)
{
    memset(&done, 0, sizeof done);
    memset(memory, 0, sizeof memory);
    receive = (struct core_wqe){
        .nseg = 1,
        .total = ROOM,
        .seg = {{.virtual_address = (uintptr_t)memory, .segment_length = ROOM}},
    };
    conn = (struct bond_conn){.b = &ia, .ep = &ep, .state = BOND_CONNECTED};
    conn.waiting_end = &conn.waiting;
}

static void arrive(struct bond_header h)
{
    struct {
        struct bond_header h;
        unsigned char data[ROOM];
    } message = {.h = h};
    struct bond_slot slot = {.at = &message.h};
    memset(message.data, 1, sizeof message.data);
    conn.waiting = &slot;
    conn.waiting_end = &slot.next;
    bond_deliver(&conn);
    assert_null(conn.waiting);
}

static void whole(void **state)
{
    begin();
    arrive((struct bond_header){.bytes = 40, .total = ROOM});
    arrive((struct bond_header){
        .flags = BOND_LAST, .bytes = 24, .total = ROOM, .offset = 40});
    assert_false(atomic_load(&conn.aborted));
    assert_int_equal(done.count, 1);
    assert_int_equal(done.status, DAT_DTO_SUCCESS);
    assert_int_equal(done.length, ROOM);
    arrive((struct bond_header){.flags = BOND_LAST | BOND_IMMED, .total = 1});
    arrive((struct bond_header){.flags = BOND_LAST});
    assert_int_equal(done.count, 3);
    assert_false(atomic_load(&conn.aborted));
}

static void wrong(void **state)
{
    static const struct bond_header h[] = {
        {.flags = BOND_LAST, .bytes = 10, .total = 1u << 31},
        {.flags = BOND_LAST, .bytes = 10, .total = 5},
        {.bytes = 10, .total = 10},
        {.flags = BOND_LAST, .bytes = 10, .total = 20, .offset = 10},
        {.bytes = 10, .total = 30, .offset = UINT64_MAX - 5},
        {.flags = BOND_LAST | BOND_IMMED, .bytes = 10},
        {.flags = BOND_IMMED},
    };
    for (size_t i = 0; i < sizeof h / sizeof *h; i++) {
        begin();
        arrive(h[i]);
        assert_true(atomic_load(&conn.aborted));
        assert_int_equal(done.count, 0);
        for (size_t at = 0; at < sizeof memory; at++)
            assert_int_equal(memory[at], 0);
    }
}

static void too_long(void **state)
{
    begin();
    arrive((struct bond_header){.bytes = 10, .total = ROOM + 1});
    assert_true(atomic_load(&conn.aborted));
    assert_int_equal(done.count, 1);
    assert_int_equal(done.status, DAT_DTO_ERR_LOCAL_LENGTH);
    assert_int_equal(memory[ROOM], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole),
        cmocka_unit_test(wrong),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
