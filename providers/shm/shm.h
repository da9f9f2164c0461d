/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shm provider: rails between processes of one user on one host.
 *
 * The initiator moves data by one copy, made in its post call: into the peer's
 * memory, mapped here if it is a shared file mapping (memfd), else by
 * process_vm_writev/readv. A send is a message in a ring: a short one carries
 * its data, the receiver fetches a long one from the sender's memory. So a
 * posted request needs nothing more of its poster.
 *
 * The files, in reading order:
 *
 *  shm.h transport.c params      an open IA, what core calls, dat.conf's line
 *  connection.h                  a connection
 *  wakeup/      control          segment of each IA: doorbell, table of ranges
 *               doorbell         sleeping and waking
 *               announce, poll_announced  which connections have something
 *  memory/      memfd mapping range_table  publishing registered ranges
 *               adopt share_pages  private memory that peers can map
 *               peer peer_map    peers, and where their ranges are mapped here
 *               access           no range is freed while a peer is in it
 *               copy copy_choice copy_trial copy_cold  how bytes are copied
 *               remote           RDMA and atomics
 *  message/     segment ring     shared memory of a connection
 *               send receive progress direct
 *  connect/     wire             what connection managers say to one another
 *               pool abort       memory of connections; breaking one
 *               watch lifetime active_side passive_side events deadlines
 *               manager          the thread that runs all of these
 *  link_model/  model            rails as slow as real ports and buses
 *               cable_file cable rails that can be cut from outside
 */
#ifndef DAPL_SHM_H
#define DAPL_SHM_H

#include "dapl_rail/platform/busywait.h"
#include "providers/shm/params.h"
#include "providers/shm/wakeup/control.h"

#define SHM_VERSION 11
#define SHM_MAGIC   UINT64_C(0x6c7061642d6d6873) /* "shm-dapl" */

struct shm_announced;
struct shm_cable;
struct shm_conn;
struct shm_file;
struct shm_peer;
struct shm_watch;

/* An open IA: core_ia.tp. */
struct shm_ia {
    struct core_ia *ia;
    struct shm_params params;
    struct shm_control control;
    int control_fd;
    struct shm_clock *clocks;      /* NULL: no link model */
    const struct shm_cable *cable; /* NULL: it can't be pulled */
    struct shm_way way;            /* as door->way, which peers could change */
    uint64_t latency_ns, gap_ns;
    uint64_t ahead_ns;   /* this process's clock less the host's, in which
                            messages are stamped */
    size_t stream_least; /* shm_choice_least */
    /* texts of attributes */
    char rate_text[SHM_HOPS][32];
    char params_text[CORE_PARAMS_MAX]; /* as in dat.conf */
    char streamed_text[24], copies_text[160];
    char fabric_text[CORE_PARAM_NAME + 4], inline_text[12], adopted_text[12];
    _Atomic uint64_t streamed; /* copies with non-temporal stores */
    uint32_t last_ep_id;
    struct shm_peer *peers;
    struct shm_file *files;          /* memory/range_table.c */
    int newest_fd;                   /* of the consumer's, found last */
    atomic_uint adopted;             /* registrations so far, memory/adopt.h */
    struct shm_announced *announced; /* SHM_ANNOUNCED */
    unsigned announced_next;         /* where a free one is sought */
    /* connection manager, under ia->lock */
    struct shm_conn *conns;
    struct shm_conn *leaving; /* freed, but a (stopped) peer is in an access */
    struct shm_watch *watch;  /* by file descriptor */
    int watch_size;
    pthread_t thread;
    bool thread_runs;
    bool stop;
    uint64_t accept_at; /* ns: listeners are deaf until then; 0: they listen */
    uint64_t look_at;   /* ns: when the thread meant to look at deadlines */
    uint64_t hear_at;   /* ns: when it reads sockets without an event */
    int epoll_fd, wake_fd;
    int cable_fd;      /* inotify; -1: no cable */
    uint32_t end_cuts; /* of the cable, seen */
};

static inline struct shm_ia *shm_ia(struct core_ia *ia)
{
    return ia->tp;
}

#endif
