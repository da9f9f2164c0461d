/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the target of puts permits them, so that a fast rank never overwrites
 * data that a slow one still reads.
 */
#ifndef DCOLL_GRANT_H
#define DCOLL_GRANT_H

#include "coll/schedule.h"

typedef enum grant {
    GRANT_IMPLIED, /**< the data that the initiator has received imply it */
    GRANT_READY,   /**< put into RECV: a READY notification in each start */
    GRANT_CREDIT,  /**< put into TEMP: the target has read the data of `depth`
                        starts ago; one credit for half of the depth */
} grant_t;

/** For collectives in which a rank that has finished a start knows that all
 * ranks have begun it, such as all-gather and all-to-all: puts into TEMP need
 * credit only if the next start uses the same TEMP. */
grant_t grant_among_all(const dcoll_args_t *args, dcoll_space_t target);
/** For collectives in which ranks may run ahead of others. */
grant_t grant_along_tree(dcoll_space_t target);

/** The target, at the begin of a start. Its notification uses @p port, that of
 * the puts that it permits. */
void grant_open(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned source, unsigned port);
/** The initiator, before its first put: waits for the grant. */
void grant_take(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                unsigned target);
/** The target, after it has read everything. */
void grant_close(dcoll_schedule_t *s, grant_t grant, const dcoll_args_t *args,
                 unsigned source, unsigned port);

/** How many starts one credit covers. */
unsigned grant_bulk(const dcoll_args_t *args);
/** Makes the operation that was added last, which gives or awaits credit by a
 * flag, cover half of the depth (up to 128 starts): a rank that has run ahead
 * as far as it may is woken once in so many starts, not in each. */
void grant_in_bulk(dcoll_schedule_t *s, const dcoll_args_t *args);

/** grant_open or grant_close. */
typedef void grant_change_t(dcoll_schedule_t *s, grant_t grant,
                            const dcoll_args_t *args, unsigned source,
                            unsigned port);

#endif
