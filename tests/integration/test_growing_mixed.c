/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that share requests and messages in pieces, among all other
 * operations, over TCP: each arrives once and in order, also if connections
 * break. */
#include "losses_tcp.h"

#define MOST   (128u << 10)
#define ROW    60u
#define SHORT  1000u
#define PIECES 65536u

struct turn {
    struct memory m;
    unsigned char *bytes;
    uint64_t draw; /* the same in both ranks */
    unsigned number, notes, added[2];
};

static unsigned draw(struct turn *u, unsigned below)
{
    u->draw = u->draw * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(u->draw >> 33) % below;
}

static void message(struct rank *r, struct turn *u, bool sends, size_t bytes)
{
    size_t got;
    bool fits = draw(u, 8);
    unsigned number = u->number++;
    if (sends) {
        fill(u->bytes, bytes, number);
        expect(r, 0, drail_send(r->t, r->peer, u->bytes, bytes, NULL));
        return;
    }
    size_t room = fits ? MOST : bytes / 2;
    int rc;
    do
        rc = drail_recv(r->t, r->peer, u->bytes, room, &got,
                        number % 3 ? -1 : 0);
    while (rc == DRAIL_EAGAIN);
    expect(r, fits || !bytes ? 0 : DRAIL_ETRUNC, rc);
    check(got == bytes);
    if (fits)
        verify(u->bytes, bytes, number);
}

static void note(struct rank *r, struct turn *u, bool sends, unsigned flags)
{
    uint32_t id = u->notes++;
    size_t bytes = draw(u, STRIPED);
    if (sends) {
        drail_xfer_t x = to_peer(r, &u->m, bytes);
        expect(r, 0,
               drail_put(r->t, r->peer, &x, DRAIL_NOTIFY | flags, id, NULL));
    } else {
        await_note(r, id);
    }
}

static void add(struct rank *r, struct turn *u, bool sends)
{
    uint64_t before;
    unsigned adds = u->added[sends == (r->rank == 0)]++; /* by sender */
    if (!sends)
        return;
    expect(r, 0,
           drail_atomic(r->t, r->peer, DRAIL_FETCH_ADD, &u->m.keys[r->peer],
                        MOST, 1, 0, &before));
    check(before == adds);
}

static void operation(struct rank *r, struct turn *u, bool sends)
{
    switch (draw(u, 12)) {
    case 0:
        note(r, u, sends, 0);
        break;
    case 1:
        note(r, u, sends, DRAIL_EAGER);
        break;
    case 2:
        message(r, u, sends, PIECES - draw(u, 3 * PIECES / 4));
        break;
    case 3:
        message(r, u, sends, MOST - draw(u, MOST - PIECES));
        break;
    case 4:
        add(r, u, sends);
        break;
    default:
        for (unsigned n = draw(u, 12); n; n--)
            message(r, u, sends, draw(u, draw(u, 9) ? 60 : SHORT + 100));
    }
}

static void row(struct rank *r, struct turn *u, unsigned sender)
{
    for (unsigned n = 0; n < ROW; n++)
        operation(r, u, r->rank == sender);
}

static void open_turn(struct rank *r, struct turn *u)
{
    *u = (struct turn){.draw = 7, .bytes = malloc(MOST)};
    check(u->bytes);
    memory_open(r, &u->m, 2 * HALF);
}

static void close_turn(struct rank *r, struct turn *u)
{
    memory_close(r, &u->m);
    free(u->bytes);
}

static void undisturbed(struct rank *r)
{
    struct turn u;
    open_turn(r, &u);
    for (unsigned turn = 0; turn < 10; turn++)
        row(r, &u, turn % 2);
    close_turn(r, &u);
}

static void break_under_load(struct rank *r)
{
    double end = seconds() + SECONDS, late = seconds() + 60;
    struct turn u;
    open_turn(r, &u);
    while (goes_on(r, end)) {
        break_something(r, ROW);
        row(r, &u, 0);
        row(r, &u, 1);
        check(seconds() < late);
    }
    break_no_more(r);
    close_turn(r, &u);
}

static void few_credits(drail_config_t *cfg)
{
    one(cfg);
    cfg->depth = 16;
}

static void least_credits(drail_config_t *cfg)
{
    three(cfg);
    cfg->depth = 4;
}

static void several_eps(drail_config_t *cfg)
{
    three(cfg);
    cfg->depth = 16;
    cfg->eps = 2;
}

static const struct test tests[] = {
    {"one rail", 2, undisturbed, one, 0},
    {"few credits", 2, undisturbed, few_credits, 0},
    {"connections break", 2, break_under_load, three, 0},
    {"connections break, least credits", 2, break_under_load, least_credits, 0},
    {"connections break, several EPs", 2, break_under_load, several_eps, 0},
};

RUN_TESTS_OVER_TCP(tests)
