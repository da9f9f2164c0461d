/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to connections. ia->lock is held. */
#ifndef DAPL_SHM_EVENTS_H
#define DAPL_SHM_EVENTS_H

#include "providers/shm/connection.h"
#include "providers/shm/shm.h"

/* Reads and obeys all messages on a connection's socket. */
void shm_on_readable(struct shm_ia *sia, int fd);
/* The peer has disconnected: ends the connection, or lets it linger. */
void shm_on_disconnect(struct shm_conn *c);
/* The peer has not answered in time: gives up, and tells it so. */
void shm_on_late(struct shm_conn *c);
/* A peer's process has ended. */
void shm_on_death(struct shm_ia *sia, struct shm_peer *peer);
/* The rail's cable has been pulled, plugged or cut. */
void shm_on_cable(struct shm_ia *sia);

#endif
