/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that is the cable of a rail: processes that open the rail map it.
 * While they run, an operator (scripts/cable, tests) pulls and plugs the cable
 * by writing one word at a time with pwrite, which wakes the connection
 * managers (inotify). All zeros: a new cable.
 */
#ifndef DAPL_SHM_CABLE_FILE_H
#define DAPL_SHM_CABLE_FILE_H

#include <stdatomic.h>
#include <stdint.h>

struct shm_cable {
    _Atomic uint32_t pulled;   /* 1: no connection can be made */
    _Atomic uint32_t cuts;     /* counts pulls: a change breaks all connections,
                                  even if the cable is plugged again at once */
    _Atomic uint32_t slow;     /* thousandths of the rate that are left, 1 to
                                  999; 0: all */
    _Atomic uint32_t end_cuts; /* a change breaks connections of one end: */
    _Atomic uint32_t end_pid;  /* … of this process, … */
    _Atomic uint32_t end_conn; /* … 0: all of them, n: the n-th oldest */
    _Atomic uint32_t mute;     /* 1: no connection can be made; what is posted
                                  from now on is lost without an error */
    uint32_t reserved[9];      /* 0 */
};
_Static_assert(sizeof(struct shm_cable) == 64, "as documented");

#define SHM_CABLE_FULL 1000u /* see slow */

#endif
