/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cable of a rail, which can be pulled and plugged from outside while jobs
 * run: a private file of this content, mapped by whoever opens the rail.
 * Whoever operates it writes words by pwrite, which wakes the connection
 * managers (inotify); a word at a time, so zeros are a cable as good as new.
 */
#ifndef DAPL_SHM_CABLE_FILE_H
#define DAPL_SHM_CABLE_FILE_H

#include <stdatomic.h>
#include <stdint.h>

struct shm_cable {
    _Atomic uint32_t pulled;   /* 1: nobody can connect */
    _Atomic uint32_t cuts;     /* how often ever: a change breaks what has been
                                  connected before, also if it is plugged again
                                  at once */
    _Atomic uint32_t slow;     /* thousandths of the rate that are left, 1 to
                                  999; 0: all */
    _Atomic uint32_t end_cuts; /* a change breaks connections of one end: */
    _Atomic uint32_t end_pid;  /* of this process; */
    _Atomic uint32_t end_conn; /* 0: all of them, n: the n-th oldest */
    _Atomic uint32_t mute;     /* 1: nobody can connect; what is posted from now
                                  on never arrives, and nobody is told */
    uint32_t reserved[9];      /* 0 */
};
_Static_assert(sizeof(struct shm_cable) == 64, "as documented");

#define SHM_CABLE_FULL 1000u /* see slow */

#endif
