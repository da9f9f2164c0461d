/* SPDX-License-Identifier: BSD-3-Clause */
/* note_next() finds the sender of a notification, whatever its rank. The mark
 * of a peer without one is removed, and set again by the part that completes
 * one. */
#include "unit.h"
#undef fail /* the library has one, too */
#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/note.h"

#define RANKS 130
#define RAILS 2

static drail_job_t job = {.size = RANKS};
static struct peer *peers[RANKS];
static struct mailbox mails[RANKS];
static _Atomic uint64_t noted[RANKS / 64 + 1];
static struct rail rails[RAILS];
static drail_t t = {.job = &job, .peers = peers, .noted = noted};

/* ---- what note.c uses of links ---- */

void slot_return(struct slot *slot, bool owe)
{
}

void link_down(struct link *link, int code, const char *format, ...)
{
}

void link_owe(struct link *link)
{
}

int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done)
{
    return 0;
}

static int begin(void **state)
{
    memset(noted, 0, sizeof noted);
    for (unsigned r = 0; r < RANKS; r++) {
        peers[r] = calloc(1, sizeof *peers[r]);
        peers[r]->owner = &t;
        peers[r]->rank = r;
        peers[r]->rails = 3;
        peers[r]->mail = &mails[r];
        memset(&mails[r], 0, sizeof mails[r]);
        inbox_open(&mails[r].notes, 4);
    }
    for (unsigned i = 0; i < RAILS; i++)
        rails[i] = (struct rail){.owner = &t, .index = i};
    return 0;
}

static int end(void **state)
{
    for (unsigned r = 0; r < RANKS; r++) {
        inbox_close(&mails[r].notes);
        free(peers[r]);
        peers[r] = NULL;
    }
    return 0;
}

/* A part of a notification that travels over these rails. */
static void arrives(unsigned rank, unsigned rail, uint16_t over)
{
    struct link link = {.peer = peers[rank], .rail = &rails[rail]};
    unsigned char data[sizeof(struct wire)];
    struct wire wire = {.parts = 1, .rails = over};
    struct slot slot = {.link = &link, .data = data};
    memcpy(data, &wire, sizeof wire);
    assert_null(note_arrived(&slot));
}

static void taken(unsigned rank)
{
    inbox_pop(&mails[rank].notes);
}

static void test_any_rank(void **state)
{
    static const unsigned senders[] = {0, 62, 63, 64, 65, 127, 128, 129};
    unsigned next = 0;
    assert_int_equal(note_next(&t, 0), RANKS);
    for (unsigned i = 0; i < sizeof senders / sizeof *senders; i++)
        arrives(senders[i], 0, 1);
    for (unsigned i = 0; i < sizeof senders / sizeof *senders; i++) {
        assert_int_equal(note_next(&t, next), senders[i]);
        next = senders[i] + 1;
    }
    assert_int_equal(note_next(&t, next), RANKS);
    assert_int_equal(note_next(&t, RANKS + 100), RANKS);
    assert_int_equal(note_next(&t, 66), 127);
}

static void test_mark_in_vain(void **state)
{
    arrives(70, 0, 1);
    taken(70);
    assert_int_equal(note_next(&t, 0), RANKS);
    assert_int_equal(atomic_load(&noted[1]), 0);
}

static void test_in_parts(void **state)
{
    arrives(128, 0, 3);
    assert_int_equal(note_next(&t, 0), RANKS);
    arrives(128, 1, 3);
    assert_int_equal(note_next(&t, 0), 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_any_rank, begin, end),
        cmocka_unit_test_setup_teardown(test_mark_in_vain, begin, end),
        cmocka_unit_test_setup_teardown(test_in_parts, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
