/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/irregular/deal.h"

/* How many of the counter values 0 … n - 1 select this bucket. */
static uint64_t below(const dcoll_deal_t *deal, uint64_t n, unsigned bucket)
{
    uint64_t turns = n / deal->period, left = n % deal->period;
    uint64_t a_turn = (deal->period - bucket + deal->fan - 1) / deal->fan;
    uint64_t more =
        left > bucket ? (left - bucket + deal->fan - 1) / deal->fan : 0;
    return turns * a_turn + more;
}

uint64_t deal_share(const dcoll_deal_t *deal, uint64_t counter, uint64_t count,
                    unsigned bucket)
{
    return below(deal, counter + count, bucket) - below(deal, counter, bucket);
}
