/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"
#include "step.h"

int coll_exchange(coll_run_t *run, coll_card_t mine, coll_card_t *cards)
{
    mine.now = clock_ns();
    return drail_job_allgather(run->job, &mine, sizeof mine, cards, -1);
}

int coll_perform(coll_run_t *run, unsigned setup)
{
    dcoll_request_t *request = run->requests[setup];
    int rc = dcoll_start(request);
    return rc ? rc : dcoll_wait(request, -1);
}
