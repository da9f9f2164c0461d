/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "bench/clock.h"
#include "step.h"

_Static_assert(sizeof(coll_card_t) <= COLL_CARD_BYTES &&
                   COLL_SUMS * sizeof(uint64_t) <= COLL_CARD_BYTES &&
                   sizeof(coll_tail_t) <= COLL_CARD_BYTES,
               "cards have room");

static void sum_up(const coll_run_t *run, coll_cards_t *all)
{
    const coll_card_t *cards = run->cards;
    *all = (coll_cards_t){0};
    for (unsigned r = 0; r < run->ranks; r++) {
        const coll_card_t *card = &cards[r];
        all->now = card->now > all->now ? card->now : all->now;
        all->most_ns = card->ns > all->most_ns ? card->ns : all->most_ns;
        all->sum_ns += card->ns;
        all->late |= card->late;
        all->missed |= card->missed;
        all->defect |= card->defect;
    }
    all->now += run->ahead_ns;
    all->enough = cards[0].enough;
}

int coll_exchange(coll_run_t *run, coll_card_t mine, coll_cards_t *all)
{
    mine.now = clock_ns() - run->ahead_ns;
    int rc = drail_job_allgather(run->job, &mine, sizeof mine, run->cards, -1);
    if (!rc)
        sum_up(run, all);
    return rc;
}

int coll_exchange_inside(coll_run_t *run, dcoll_team_t *team, coll_card_t mine,
                         coll_cards_t *all)
{
    mine.now = clock_ns() - run->ahead_ns;
    int rc = dcoll_allgather(team, &mine, run->cards, sizeof mine);
    if (!rc)
        sum_up(run, all);
    return rc;
}

int coll_exchange_sums(coll_run_t *run, uint64_t sums[COLL_SUMS])
{
    const uint64_t *all = run->cards;
    int rc = drail_job_allgather(run->job, sums, COLL_SUMS * sizeof *sums,
                                 run->cards, -1);
    if (rc)
        return rc;
    memset(sums, 0, COLL_SUMS * sizeof *sums);
    for (unsigned i = 0; i < COLL_SUMS * run->ranks; i++)
        sums[i % COLL_SUMS] += all[i];
    return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

int coll_exchange_tail(coll_run_t *run, coll_tail_t *tail)
{
    const coll_tail_t mine = *tail, *all = run->cards;
    int rc = drail_job_allgather(run->job, &mine, sizeof mine, run->cards, -1);
    for (unsigned r = 0; !rc && r < run->ranks; r++)
        *tail = (coll_tail_t){.p50 = larger(tail->p50, all[r].p50),
                              .p99 = larger(tail->p99, all[r].p99),
                              .p999 = larger(tail->p999, all[r].p999),
                              .max = larger(tail->max, all[r].max)};
    return rc;
}

coll_bed_t *coll_bed_of(coll_run_t *run, unsigned setup)
{
    return &run->bed[run->plan->setups[setup].zero_copy];
}
