/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TESTS_IRREGULAR_VERIFY_H
#define TESTS_IRREGULAR_VERIFY_H

#include "traffic.h"

enum { IRREGULAR_ELEMENT = 16 }; /* bytes */

/** The algorithm, if it is for this shape, must bring all of the traffic where
 *  it belongs, in bounds that are its own. @p element: bytes. @p pulled: as in
 * dcoll_traffic_t. */
void irregular_verify(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                      const struct traffic *t, size_t element, size_t pulled);

#endif
