/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered ranges: the LMRs and bound RMRs of an IA. Each is one struct
 * core_mr, named by a 32-bit key: the index of its place, and above it a
 * generation that changes with every use of the place, so that a freed key is
 * not valid again soon.
 */
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/core/internal.h"

#define WITHDRAW_YIELDS  50 /* looks before it begins to sleep between them */
#define WITHDRAW_POLL_US 100

/* Takes the lowest free place, so that peers map few different ones. The new
 * key tells them that the old range is gone. */
struct core_mr *core_range_new(struct core_ia *ia)
{
    for (unsigned at = ia->mr_hint; at < CORE_MAX_MRS; at++) {
        struct core_mr *mr = &ia->mrs[at];
        if (mr->key)
            continue;
        ia->mr_hint = at + 1;
        mr->generation = mr->generation % (UINT32_MAX / CORE_MAX_MRS) + 1;
        mr->ep = NULL;
        mr->key = mr->generation * CORE_MAX_MRS + at;
        mr->rmr_context = mr->key;
        return mr;
    }
    return NULL;
}

void core_range_give_back(struct core_ia *ia, struct core_mr *mr)
{
    unsigned at = (unsigned)(mr - ia->mrs);
    mr->key = 0;
    if (at < ia->mr_hint)
        ia->mr_hint = at;
}

bool core_range_free(struct core_ia *ia, struct core_mr *mr, uint64_t *patience)
{
    for (unsigned looks = 0; !ia->transport->mr_withdraw(ia, mr); looks++) {
        if (!*patience)
            return false;
        const uint64_t begin = busywait_now_ns();
        core_ia_unlock(ia);
        if (looks < WITHDRAW_YIELDS)
            sched_yield();
        else
            usleep(WITHDRAW_POLL_US);
        core_ia_lock(ia);
        const uint64_t took = busywait_now_ns() - begin;
        *patience -= took < *patience ? took : *patience;
    }
    core_range_give_back(ia, mr);
    return true;
}
