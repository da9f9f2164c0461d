/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ranks of a launched job connect to rank 0, the server; each proves that
 * it knows the secret of the job (handshake.h). Anybody may connect, be silent
 * or send nonsense: such connections only compete for a few slots.
 *
 * In reading order: address.h (where rank 0 listens), secret.h, handshake.h
 * (what both sides say, over sha256.h), server.c, client.c. When all ranks are
 * connected, first_allgather.h agrees on the job and finds its hosts (host.h).
 */
#ifndef DRAIL_JOB_RENDEZVOUS_H
#define DRAIL_JOB_RENDEZVOUS_H

#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/rendezvous/secret.h"
#include "dapl_rail/platform/deadline.h"

/*
 * Rank 0: fds[r] becomes the connection of each rank r > 0. The listener stays
 * open. After a failure, ranks that had connected have been told, and err names
 * the ranks that are missing, or the one that does not fit.
 */
int rendezvous_serve(int listener, unsigned size, const struct secret *secret,
                     struct deadline deadline, int *fds, drail_error_t *err);

/* Other ranks: a connection to rank 0, or a DRAIL_E…. Tries again until rank 0
 * has accepted or refused this rank. DRAIL_EACCESS: it has another secret. */
int rendezvous_connect(const struct addresses *where, unsigned rank,
                       unsigned size, const struct secret *secret,
                       struct deadline deadline, drail_error_t *err);

#endif
