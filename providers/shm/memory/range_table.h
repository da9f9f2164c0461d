/* SPDX-License-Identifier: BSD-3-Clause */
/* Publishing registered ranges to peers: core_transport.mr_publish and
 * .mr_withdraw, with ia->lock held. */
#ifndef DAPL_SHM_RANGE_TABLE_H
#define DAPL_SHM_RANGE_TABLE_H

#include "providers/shm/shm.h"

DAT_RETURN shm_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool shm_mr_withdraw(struct core_ia *ia, struct core_mr *mr);
/* Closes the files of ranges that peers never left. Adopted pages of such a
 * range stay in their memfd. */
void shm_mr_close(struct shm_ia *sia);

#endif
