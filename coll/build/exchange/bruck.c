/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/bruck.h"

static unsigned at_most(unsigned limit, unsigned value)
{
    return value < limit ? value : limit;
}

struct bruck_step bruck_step_from(unsigned n, unsigned k, unsigned have)
{
    const unsigned chunk = at_most(have, (n - have + k - 1) / k);
    return (struct bruck_step){have, chunk, at_most(n, have + k * chunk)};
}

bool bruck_message(struct bruck_step step, unsigned port, unsigned *distance,
                   unsigned *count)
{
    *distance = step.have + port * step.chunk;
    if (*distance >= step.end)
        return false;
    *count = at_most(step.chunk, step.end - *distance);
    return true;
}

bool bruck_message_of(unsigned n, unsigned k, unsigned step, unsigned port,
                      unsigned *distance, unsigned *count)
{
    struct bruck_step now = bruck_step_from(n, k, 1);
    while (step--)
        now = bruck_step_from(n, k, now.end);
    return bruck_message(now, port, distance, count);
}
