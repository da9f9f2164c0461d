/* SPDX-License-Identifier: BSD-3-Clause */
/* What connection managers say to one another, and addresses of rails. */
#ifndef DAPL_SHM_WIRE_H
#define DAPL_SHM_WIRE_H

#include "providers/shm/shm.h"

/* Bits that all rails' addresses have, and no other loopback address that hosts
 * use (127.0.0.1, 127.0.1.1, …): 127.y.z.w with odd y and w. */
#define SHM_RAIL_ADDRESS (127u << 24 | 1u << 16 | 1u)

/* cm_wire.c: what connection managers say to one another */
enum shm_cm_type {
    SHM_CM_REQUEST = 1, /* fds: connection segment, control segment */
    SHM_CM_ACCEPT,      /* fd: control segment */
    SHM_CM_REJECT,
    SHM_CM_CONFIRM,
    SHM_CM_DISCONNECT,
    SHM_CM_LATE, /* given up: what was awaited had not come in time */
};
struct shm_cm_msg {
    uint64_t magic;
    uint32_t version;
    uint32_t type;
    uint32_t pz_id, ep_id;
    uint32_t private_size;
    unsigned char private_data[CORE_MAX_PRIVATE_DATA];
};
#define SHM_CM_FDS 2
int shm_cm_send(int fd, enum shm_cm_type type, uint32_t pz_id, uint32_t ep_id,
                const void *private_data, DAT_COUNT size, const int *fds,
                int nfds);
/* 1: a valid message; 0: none now; -1: end of the connection, or nonsense.
 * fds not received are -1; the caller closes those that are. */
int shm_cm_recv(int fd, struct shm_cm_msg *msg, int fds[SHM_CM_FDS]);
int shm_cm_socket(void);
/* Binds / connects to the service point's name. 0 or -errno. */
int shm_cm_bind(int fd, uint32_t rail, DAT_CONN_QUAL qual);
int shm_cm_connect(int fd, uint32_t rail, DAT_CONN_QUAL qual);
/* The IPv4 address (host order) if it is one of a rail, else 0. */
uint32_t shm_cm_rail(const struct sockaddr_storage *address);
/* pid of the process at the other end if it belongs to this user, else -1 */
pid_t shm_cm_peer_pid(int fd);
/* Does this address name this host? 1, 0; or -1: there is no descriptor to find
 * out by. */
int shm_cm_is_local(const struct sockaddr_storage *address);

#endif
