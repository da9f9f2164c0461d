/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for other ranks while this one serves them. */
#ifndef DSM_SYNC_PEER_WAIT_H
#define DSM_SYNC_PEER_WAIT_H

#include "dapl_rail/platform/deadline.h"
#include "dsm/base/space.h"

struct peer_wait {
    uint64_t start_ns, looked_ns;
    struct deadline end; /* ddsm_config_t.wait_ms has gone by */
};

struct peer_wait peer_wait_begin(const ddsm_t *d);
/* Between two looks: leaves the mutex to other threads of this rank for a
 * moment. DRAIL_ETIMEOUT: it has waited for ddsm_config_t.wait_ms, in which
 * the process, or the machine, did not stand still; another error is one of the
 * space: interrupted, or a rank is gone. */
int peer_wait_pause(ddsm_t *d, struct peer_wait *peer_wait);
/* Until the collective is complete; errors as above, or those of dcoll_test. */
int peer_wait_complete(ddsm_t *d, dcoll_request_t *request);

#endif
