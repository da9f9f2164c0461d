/* SPDX-License-Identifier: BSD-3-Clause */
/* Access to a peer's registered memory. */
#ifndef DAPL_SHM_REMOTE_H
#define DAPL_SHM_REMOTE_H

#include "providers/shm/connection.h"

/* Copies between local segments (checked by core) and the peer's memory, if the
 * range of dto->remote_key allows @p priv. @p slot: see shm_dir.access. */
DAT_DTO_COMPLETION_STATUS shm_remote_copy(struct shm_conn *c,
                                          const struct core_dto *dto, int slot,
                                          int priv);
/* A write whose range is announced, but not mapped here. False: it has failed.
 */
bool shm_remote_write_unmapped(struct shm_conn *c, const void *from,
                               size_t bytes, uint64_t address);
/* Fetch-and-add or compare-and-swap; the old value goes to dto->seg[0]. */
DAT_DTO_COMPLETION_STATUS shm_remote_atomic(struct shm_conn *c,
                                            const struct core_dto *dto);

#endif
