/* SPDX-License-Identifier: BSD-3-Clause */
#include "breakdown.h"

static unsigned rails_with_data(const drail_rail_time_t *rails, unsigned nrails)
{
    unsigned count = 0;
    for (unsigned i = 0; i < nrails; i++)
        count += rails[i].bytes > 0;
    return count;
}

breakdown_t breakdown_of(drail_engine_t engine, const drail_rail_time_t *rails,
                         unsigned nrails)
{
    breakdown_t b = {0};
    uint64_t end = 0;
    /* the caller's thread itself posts messages of one stripe */
    bool parallel =
        engine == DRAIL_ENGINE_THREADED && rails_with_data(rails, nrails) > 1;
    for (unsigned i = 0; i < nrails; i++) {
        uint64_t posted = rails[i].post_ns + (parallel ? 0 : b.post_ns);
        if (posted + rails[i].wait_ns > end) {
            end = posted + rails[i].wait_ns;
            if (parallel)
                b.post_ns = posted;
        }
        if (!parallel)
            b.post_ns = posted;
    }
    b.wait_ns = end - b.post_ns;
    return b;
}
