/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/execute/flags.h"

bool flag_elsewhere(dcoll_request_t *q, const dcoll_op_t *op)
{
    const dcoll_team_t *team = q->team;
    uint64_t start = dcoll_op_awaited(op, q->start);
    for (unsigned i = 0; i < team->ncore_sharers; i++) {
        unsigned rank = team->core_sharers[i];
        if (rank - team->first >= team->locals ||
            !line_set(line_of(q, rank, op), start))
            return false;
    }
    return true;
}

void flag_sleep(dcoll_request_t *q, const dcoll_op_t *op, uint64_t until_ns)
{
    const struct drail_platform *p = q->team->platform;
    uint64_t start = dcoll_op_awaited(op, q->start);
    struct line *line = line_of(q, op->peer, op);
    atomic_fetch_add(&q->header->sleepers, 1);
    uint32_t value = atomic_load(&line->value);
    if (!is_set(value, start))
        p->wait(p, &line->value, value, until_ns, true);
    atomic_fetch_sub(&q->header->sleepers, 1);
}
