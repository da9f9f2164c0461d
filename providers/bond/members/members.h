/* SPDX-License-Identifier: BSD-3-Clause */
/* The members, and what the bond has on each of them. */
#ifndef DAPL_BOND_MEMBERS_H
#define DAPL_BOND_MEMBERS_H

#include "providers/bond/wire.h"

/* thread.c */
int bond_threads_start(struct bond_ia *b);
void bond_threads_stop(struct bond_ia *b);

/* team.c */
/* Starts a thread for each member but the first. */
int bond_team_start(struct bond_ia *b);
void bond_team_stop(struct bond_ia *b);
/* Calls run(arg, 0), ..., run(arg, parts - 1), each once, in the caller and in
 * the threads at the same time. b->lock is held. */
void bond_team_run(struct bond_ia *b, unsigned parts,
                   void (*run)(void *arg, unsigned part), void *arg);

/* sleep.c */
void *bond_watch(void *member);
/* The watchers are to report the members' next events. */
void bond_watch_begin(struct bond_ia *b);
void bond_watch_end(struct bond_member *m);
void bond_arm(struct core_ia *ia, uint64_t bell);
int bond_sleep(struct core_ia *ia, uint64_t bell, bool fed,
               uint64_t timeout_ns);
void bond_ring(struct core_ia *ia, uint64_t bells);

/* range.c */
DAT_RETURN bond_mr_publish(struct core_ia *ia, struct core_mr *mr);
bool bond_mr_withdraw(struct core_ia *ia, struct core_mr *mr);
/* A lead is lost: any member may have to carry any range from now on. */
void bond_ranges_spread(struct bond_ia *b);
/* The members are closed. Frees what peers still accessed. */
void bond_ranges_forget(struct bond_ia *b);
struct bond_range *bond_range_find(struct bond_ia *b, uint32_t key);
/* Gives segments the member's contexts. Else the status of the request: the
 * consumer has freed an LMR, or a segment that is empty names none
 * (DAT_DTO_ERR_LOCAL_PROTECTION); or the member can't register a range
 * (DAT_DTO_ERR_LOCAL_EP). */
DAT_DTO_COMPLETION_STATUS bond_range_translate(struct bond_ia *b,
                                               unsigned member, uint32_t n,
                                               DAT_LMR_TRIPLET *seg);

/* loaded.c */
/* The library of the member that has made this PZ stays loaded, though the
 * registry may let it go, until the process ends or forks. */
void bond_keep_loaded(DAT_PZ_HANDLE pz);

/* zone.c; NULL: out of resources */
struct bond_zone *bond_zone_get(struct bond_ia *b, uint32_t id);
void bond_zone_put(struct bond_ia *b, struct bond_zone *z);
/* Frees what peers still read when zones ended. */
void bond_zones_look(struct bond_ia *b);

/* release.c */
bool bond_is_disconnecting(DAT_EP_HANDLE ep);
/* Frees the EP, at once or later. */
void bond_release(struct bond_member *m, DAT_EP_HANDLE ep,
                  struct bond_zone *zone);
/* Frees the EPs that can be freed now; all of them. */
void bond_release_look(struct bond_member *m, uint64_t now);
void bond_release_all(struct bond_member *m);

/* lmr.c */
/* Frees an LMR of the member. False: a peer may still access it. Call it again
 * later; the call does not wait, as the bond is locked. */
bool bond_lmr_free(const struct bond_member *m, DAT_LMR_HANDLE lmr);

/* member.c */
/* Both: -1 after one line on stderr. */
int bond_member_ia_open(const char *bond, const char *member, DAT_COUNT qlen,
                        DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia);
int bond_members_open(struct bond_ia *b);
void bond_members_close(struct bond_ia *b);
/* Makes the service points where links join. */
DAT_RETURN bond_members_listen(struct bond_ia *b);
/* Makes room for so many more events of links. False: out of resources. */
bool bond_member_room(struct bond_member *m, DAT_COUNT events);
/* Takes the member's asynchronous events, so that their EVD does not overflow:
 * links end by themselves. */
void bond_member_forget_errors(struct bond_member *m);
/* -1: its queue is full. */
int bond_evd_wake(DAT_EVD_HANDLE evd);
/* Lets the first member's thread look at all connections. */
void bond_thread_wake(struct bond_ia *b);

#endif
