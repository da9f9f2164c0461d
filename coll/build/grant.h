/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the target of puts permits them, so that a fast rank never overwrites
 * what a slow one still reads.
 */
#ifndef DCOLL_GRANT_H
#define DCOLL_GRANT_H

#include "coll/schedule.h"

typedef enum grant {
    GRANT_IMPLIED, /**< what the initiator has received already says so */
    GRANT_READY,   /**< into RECV: a notification in each start */
    GRANT_CREDIT,  /**< into TEMP: the target has read what lay there `depth`
                        starts ago; for half of the depth at a time */
} grant_t;

/** Where a rank that has finished a start knows that all have begun it, as
 *  after an all-gather or an all-to-all: puts into TEMP need credit only if
 *  the next start uses the same TEMP. */
grant_t grant_among_all(const dcoll_args_t *args, dcoll_space_t target);
/** Where ranks may run ahead of others. */
grant_t grant_along_tree(dcoll_space_t target);

/** The target, at its start. What it says goes through @p port, that of the
 *  puts it permits: ports that share the puts share the permissions. */
void grant_open(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned source, unsigned port);
/** The initiator, before its first put. */
void grant_take(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned target);
/** The target, when it has read everything. */
void grant_close(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                 unsigned source, unsigned port);

/** The operation that was added last, which gives or awaits credit by a flag,
 *  is for half of the depth at a time, too (up to 128 starts): who has run
 * ahead as far as he may is woken once in so many starts, not in each. */
void grant_in_bulk(dcoll_schedule_t *s, const dcoll_args_t *args);

/** grant_open or grant_close. */
typedef void grant_change_t(dcoll_schedule_t *s, grant_t grant,
                            const dcoll_args_t *args, unsigned source,
                            unsigned port);

#endif
