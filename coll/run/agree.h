/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_AGREE_H
#define DCOLL_AGREE_H

#include "coll/run/prepare.h"

/* Collective, after request_prepare(), whose result is `failed`. */
int request_agree(dcoll_request_t *q, int failed, const struct needs *needs,
                  const struct segment_card *card);

#endif
