/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The control segment of an open IA: one memfd that all its peers map. A page
 * that peers write (the doorbell), and a table that they only read (the ranges
 * of the owner's memory).
 */
#ifndef DAPL_SHM_CONTROL_H
#define DAPL_SHM_CONTROL_H

#include <stdatomic.h>
#include <stdint.h>

#include "providers/shm/link_model/model.h"
#include "providers/shm/memory/memfd.h"

struct shm_ia;

struct shm_doorbell { /* first page; peers write it */
    uint64_t magic;
    uint32_t version;
    int32_t clocks_fd; /* the owner's, of the clocks that `way` names */
    uint64_t clocks_inode;
    struct shm_way way;
    /* futexes, one for each sleeper: 1 from when it arms until it is rung */
    _Alignas(CORE_CACHELINE) _Atomic uint32_t bell[64];
    /* ranges withdrawn so far */
    _Alignas(CORE_CACHELINE) _Atomic uint32_t withdrawals;
    /* announce.c: which words of `announced` are not 0 … */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t announced_words;
    _Atomic uint64_t slept; /* … which bells have ever been armed … */
    /* … and one bit per connection whose peer has something for the owner.
     * Hints only: any peer can write them. */
    _Alignas(CORE_CACHELINE) _Atomic uint64_t announced[64];
};
#define SHM_ANNOUNCED (64u * 64u) /* connections that have a bit */

/* A range of memory that peers may access; one cache line. `key` is written
 * last. When the owner withdraws the range it sets key to 0, and to
 * SHM_KEY_FREE as soon as no peer accesses the range. A key comes again after
 * many uses of its entry; `use`, which counts them, does not. */
#define SHM_KEY_FREE                                                           \
    1 /* no valid key: keys have a generation above the index */
struct shm_mr {
    _Atomic uint32_t key;
    int32_t priv;
    uint64_t base, length;
    uint32_t pz_id;
    uint32_t ep_id; /* only from the peer of this EP; 0: from any */
    int32_t fd;     /* the owner's, of the file mapped there; -1: private
                       memory */
    _Atomic uint32_t use;
    uint64_t inode;
    uint64_t offset; /* in the file, of the first byte that is mapped there */
    uint32_t head, tail; /* bytes before and after, which are private memory */
};
_Static_assert(sizeof(struct shm_mr) == CORE_CACHELINE, "one line a range");

#define SHM_CONTROL_SIZE (SHM_PAGE + CORE_MAX_MRS * sizeof(struct shm_mr))

struct shm_control { /* as mapped by the owner or by a peer */
    struct shm_doorbell *door;
    struct shm_mr *table;
};

/* The name of a range for ever: its key, and above it the use of its entry. */
static inline uint64_t shm_mr_name(const struct shm_mr *mr, uint32_t key)
{
    return (uint64_t)atomic_load_explicit(&mr->use, memory_order_relaxed)
               << 32 |
           key;
}

/* Makes and maps the IA's own segment. 0 or -1. */
int shm_control_create(struct shm_ia *sia);
void shm_control_destroy(struct shm_ia *sia);
/* In a forked child: its copy no longer changes the parent's. */
void shm_control_forked(struct shm_ia *sia);
/* Maps a segment, the table read-only unless it is our @p own. 0 or -1. */
int shm_control_map(int fd, struct shm_control *control, bool own);
void shm_control_unmap(struct shm_control *control);

#endif
