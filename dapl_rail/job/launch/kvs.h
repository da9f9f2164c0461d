/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A launcher (PMIx, PMI-2) gives its processes rank and size, and a key-value
 * space. Rank 0 puts one value there, its address, and all ranks get it. Later
 * messages between ranks do not use the launcher.
 */
#ifndef DRAIL_JOB_LAUNCH_KVS_H
#define DRAIL_JOB_LAUNCH_KVS_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

#define KVS_LINE 1024u /* bytes of a value, with its zero: PMI-2's limit */

struct kvs {
    unsigned rank, size;
    /* All ranks call it: put (rank 0), fence, get. Afterwards line is rank 0's.
     * Waits up to timeout_ms for the slowest rank. */
    int (*broadcast)(struct kvs *kvs, char line[KVS_LINE], int timeout_ms,
                     drail_error_t *err);
    /* Ends the launcher's services and frees kvs. failed: other ranks may be
     * gone, so it waits for none. */
    void (*close)(struct kvs *kvs, bool failed);
};

/* Connects to the launcher that the environment names. */
int pmix_open(struct kvs **kvs, drail_error_t *err);
int pmi2_open(struct kvs **kvs, drail_error_t *err);

#endif
