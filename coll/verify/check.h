/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of single operations, without playing them. */
#ifndef DCOLL_CHECK_H
#define DCOLL_CHECK_H

#include "verify.h"

/* The operation that is checked. */
struct check_site {
    struct verifier *v;
    unsigned rank, op;
};

#define WRONG(site, ...)                                                       \
    verify_fail_at((site)->v, (site)->rank, 0, (site)->op, __VA_ARGS__)

/* check_place.c: is the place within its memory, may it be written, and is it
 * right for an irregular collective? */
void verify_check_range(const struct check_site *site, unsigned rank,
                        dcoll_place_t place, size_t bytes);
void verify_check_target(const struct check_site *site, dcoll_place_t dst);
void verify_check_user(const struct check_site *site, dcoll_place_t place);

size_t verify_gcd(size_t a, size_t b);

/* check_irregular.c: DISTRIBUTE and COLLECT; DELIVER; OFFER, PACK, EXPECT and
 * PICK. */
void verify_check_deal(const struct check_site *site, const dcoll_op_t *op);
void verify_check_deliver(const struct check_site *site, const dcoll_op_t *op);
void verify_check_offer(const struct check_site *site, const dcoll_op_t *op);

#endif
