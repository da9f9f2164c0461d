/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/flags.h"

void flag_sleep(dcoll_request_t *q, const dcoll_op_t *op, uint64_t until_ns)
{
    const struct drail_platform *p = q->team->platform;
    uint64_t start = q->start - op->lag;
    struct line *line = line_of(q, op->peer, op);
    atomic_fetch_add(&q->header->sleepers, 1);
    uint32_t value = atomic_load(&line->value);
    if (!is_set(value, start))
        p->wait(p, &line->value, value, until_ns, true);
    atomic_fetch_sub(&q->header->sleepers, 1);
}
