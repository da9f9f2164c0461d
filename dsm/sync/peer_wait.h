/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for other ranks. Meanwhile this rank serves their packs
 * (pack_server.h), and other threads of it may enter. */
#ifndef DSM_SYNC_PEER_WAIT_H
#define DSM_SYNC_PEER_WAIT_H

#include "dapl_rail/platform/deadline.h"
#include "dsm/base/space.h"

struct peer_wait {
    uint64_t start_ns, looked_ns;
    struct deadline end; /* after ddsm_config_t.wait_ms */
};

struct peer_wait peer_wait_begin(const ddsm_t *d);
/* Call it between two polls: lets other threads of this rank enter for a
 * moment. DRAIL_ETIMEOUT: ddsm_config_t.wait_ms has passed, not counting time
 * in which the process or the machine stood still. Another error breaks the
 * memory: the job was interrupted, or a rank is gone or broken. */
int peer_wait_pause(ddsm_t *d, struct peer_wait *peer_wait);
/* The same, but no other thread of this rank enters. */
int peer_wait_inside(ddsm_t *d, struct peer_wait *peer_wait);
/* Waits for a collective; errors as above, or of dcoll_test(). */
int peer_wait_complete(ddsm_t *d, dcoll_request_t *request);
/* Starts a prepared collective and waits for it; an error breaks the memory.
 * @what: the beginning of the sentence. */
int peer_wait_run(ddsm_t *d, dcoll_request_t *request, const char *what);

#endif
