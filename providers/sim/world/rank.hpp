/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank: its notices, and its threads that wait and poll for them. */
#ifndef PROVIDERS_SIM_WORLD_RANK_HPP
#define PROVIDERS_SIM_WORLD_RANK_HPP

#include "wait_queue.hpp"

namespace sim
{

struct Rank {
    unsigned node;
    WaitQueue notice_waiters{}; /* actors that wait for any notice */
    WaitQueue flag_waiters{};   /* … until all flags of the rank are seen */
    uint64_t notices = 0;
    uint64_t reasons = 0;    /* to look again, counted */
    uint64_t idle_since = 0; /* when it last did something but poll */
    unsigned vain_polls = 0;
    unsigned unseen_flags = 0; /* set by the rank, not visible to others yet */
};

/* The caller's. */
Rank &self();

/* Waiters and pollers of the rank look again. */
void look_again(Rank &rank);
/* The same, but for the calling thread: the caller has made the change. */
void others_look_again();

} // namespace sim
#endif
