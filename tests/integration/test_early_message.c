/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message comes before the event that says that its connection is up: what
 * answers it can't be sent yet, and is when the event has come. Stands in for
 * the provider, which tells of connections late.
 */
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define RAILS 2u

static struct {
    DAT_EVD_HANDLE evd;
    DAT_EVENT event;
} held[RAILS]; /* ESTABLISHED, until a message has come */
static unsigned nheld;
static bool holds;

static DAT_RETURN give_back(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    for (unsigned i = 0; i < RAILS && !holds; i++)
        if (held[i].evd == evd) {
            held[i].evd = DAT_HANDLE_NULL;
            *event = held[i].event;
            return DAT_SUCCESS;
        }
    return DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
}

static void hold(DAT_EVD_HANDLE evd, const DAT_EVENT *event)
{
    check(nheld < RAILS);
    held[nheld].evd = evd;
    held[nheld++].event = *event;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status != DAT_SUCCESS)
        return give_back(evd, event);
    if (event->event_number == DAT_DTO_COMPLETION_EVENT)
        holds = false;
    if (!holds || event->event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        return status;
    hold(evd, event);
    return DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
}

/* Rank 1's connection is up before rank 0 knows of it. */
static void answer_is_late(struct rank *r)
{
    uint64_t *word, before = 1;
    drail_mem_t *mem;
    drail_key_t keys[2];
    holds = r->rank == 0;
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_ALL, (void **)&word, &mem));
    exchange_keys(r, mem, keys);
    expect(r, 0, drail_connect(r->t, r->peer));
    if (r->rank == 1) {
        expect(
            r, 0,
            drail_atomic(r->t, 0, DRAIL_FETCH_ADD, &keys[0], 0, 7, 0, &before));
        check(before == 0);
        expect(r, 0, drail_notify(r->t, 0, 0, 0));
    } else {
        check(!holds); /* a message came first, the event was held if need be */
        expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
        check(*word == 7);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void short_time(drail_config_t *cfg)
{
    cfg->timeout_ms = 5000;
}

static const struct test tests[] = {
    {"the answer is late", 2, answer_is_late, short_time, APART},
};

int main(int argc, char **argv)
{
    setenv("DRAIL_EXTENSIONS", "0", 1); /* atomics are messages */
    return run_tests(tests, 1, 1, argc, argv);
}
