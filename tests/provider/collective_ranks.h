/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of groups of dat_ib_collective_*, over a rail whose line of dat.conf
 * names libdcoll_dat. Ranks are processes; they exchange their members' infos
 * through shared memory.
 */
#ifndef TEST_COLLECTIVE_RANKS_H
#define TEST_COLLECTIVE_RANKS_H

#include "util.h"

#include <stdatomic.h>

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>

#define MOST    4
#define INFO    128 /* bytes; an info is shorter */
#define PATIENT 60  /* seconds of a rank */
#define LONGEST 300000

extern char rail[32]; /* the IA under test */

extern struct shared {
    atomic_uint arrived;
    atomic_uint begun; /* calls of rank 0, if the test counts them */
    unsigned char info[MOST][INFO];
} * shared;

struct rank {
    unsigned rank, size;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, evd;
    DAT_PZ_HANDLE pz;
    DAT_IB_COLLECTIVE_MEMBER member, members[MOST];
    DAT_COUNT info_bytes;
    DAT_HANDLE group;
    unsigned phase;
};

/* First of all: the rails, of the same kind as TEST_IA is. */
void make_rails(char **argv);
/* All ranks meet, outside DAT. */
void meet(struct rank *r);
void open_ia(struct rank *r);
void create_member(struct rank *r);
/* An event of a collective; its status is returned. */
DAT_IB_STATUS event_of(struct rank *r, DAT_EVD_HANDLE evd, DAT_IB_EXT_TYPE type,
                       uint64_t context);
DAT_CONTEXT context(uint64_t value);
DAT_RETURN begin_group(struct rank *r, unsigned id,
                       DAT_IB_COLLECTIVE_GROUP *layout);
DAT_IB_STATUS group_status(struct rank *r, unsigned id);
/* Ranks per node; 0: no layout. With an odd id as Intel MPI 2018 gives it. */
void create_group(struct rank *r, unsigned id, unsigned per_node);
/* With group 1, in which each rank is a node. */
void open_all(struct rank *r);
void close_ia(struct rank *r);
void close_all(struct rank *r);
/* Runs the ranks; how many of them ended well. */
unsigned run(unsigned size, void (*body)(struct rank *r));
void run_well(unsigned size, void (*body)(struct rank *r));

/* The next event, of a call that has succeeded. */
void good(struct rank *r, DAT_IB_EXT_TYPE type, uint64_t value);
/* Bytes of a rank. */
void fill_of(unsigned char *at, unsigned rank, size_t bytes);
void check_of(const unsigned char *at, unsigned rank, size_t bytes);
/* Rank 0 comes last: nobody may leave before. */
void barriers(struct rank *r);

#endif
