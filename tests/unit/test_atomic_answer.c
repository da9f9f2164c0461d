/* SPDX-License-Identifier: BSD-3-Clause */
/* An atomic is not executed if there is no memory for its answer. */
#include "unit.h"
#undef fail /* the library has one, too */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/remote_atomic.h"

static bool memory; /* is there any? */
static uint64_t word, told;
static unsigned replies, returned;
static int down;
static drail_t t;
static struct rail rail = {.owner = &t};
static struct link link_ = {.rail = &rail};

int link_may_reply(struct link *link)
{
    return memory ? 0 : DRAIL_ENOMEM;
}

int link_reply(struct link *link, enum reply_kind kind, const struct wire *wire,
               const void *payload, uint8_t bytes)
{
    struct wire_atomic answer;
    int rc = link_may_reply(link);
    if (rc)
        return rc;
    assert_int_equal(bytes, sizeof answer);
    memcpy(&answer, payload, sizeof answer);
    assert_int_equal(answer.status, 0);
    told = answer.old;
    replies++;
    return 0;
}

void link_down(struct link *link, int code, const char *format, ...)
{
    down = code;
}

void slot_return(struct slot *slot, bool owe)
{
    returned++;
}

bool key_grants(const drail_t *of, unsigned at, DAT_RMR_CONTEXT key,
                uint64_t address, size_t bytes, unsigned access)
{
    return true;
}

void slot_read(const struct slot *slot, size_t at, void *to, size_t bytes)
{
    memcpy(to, slot->data + at, bytes);
}

static void ask(void)
{
    _Alignas(struct wire_atomic) unsigned char
        data[sizeof(struct wire) + sizeof(struct wire_atomic)] = {0};
    const struct wire_atomic a = {
        .op = DRAIL_FETCH_ADD, .address = (uintptr_t)&word, .operand = 5};
    struct slot slot = {.link = &link_, .data = data, .bytes = sizeof data};
    memcpy(data + sizeof(struct wire), &a, sizeof a);
    assert_null(atomic_asked(&slot));
}

static void is_carried_out(void **state)
{
    memory = true;
    ask();
    assert_int_equal(word, 12);
    assert_int_equal(told, 7);
    assert_int_equal(replies, 1);
    assert_int_equal(returned, 1);
    assert_int_equal(down, 0);
}

static void is_not_without_memory(void **state)
{
    memory = false;
    ask();
    assert_int_equal(word, 7);
    assert_int_equal(replies, 0);
    assert_int_equal(down, DRAIL_ENOMEM);
}

static int begin(void **state)
{
    word = 7;
    told = replies = returned = 0;
    down = 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(is_carried_out, begin),
        cmocka_unit_test_setup(is_not_without_memory, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
