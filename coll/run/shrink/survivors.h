/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The survivors of a team agree on which ranks have died.
 *
 * Each rank keeps a set of dead ranks, which only grows: by ranks whose
 * connection has ended and that can't be reached again, and by ranks that
 * others count as dead. It tells its set to all ranks outside of it. A rank
 * decides on its set when all ranks outside of it have told this same set.
 * Then it tells all that it has decided, and a rank that hears so decides on
 * the same set, unless it counts the teller as dead. A rank returns when all
 * others have told that they have decided, or have died since.
 *
 * Two survivors decide the same, unless a set has a living rank. Let p decide
 * D and q decide E, each as the first on its set, and both live. Then p has
 * heard D from q, and q tells no rank that is not in E: a rank's set only grows
 * until it decides, and then stays. So E contains D, and likewise D contains E.
 * A first one that has died since is replaced by the rank that heard of its
 * decision: a rank that counts the first one as dead does not hear it.
 *
 * A living rank is in a set if a rank could not connect to it. Ranks that can
 * reach it tell it so; else it would count them as dead when they have ended.
 * In a network partition, each side counts the other as dead and decides for
 * itself.
 *
 * A set travels as a row of notifications, one for each rank: BEGIN, dead
 * ranks, END if it is decided. HELLO is a BEGIN that asks the other rank to
 * begin again: words that come before a rank is here are lost.
 * Before the first word a rank completes its transfers to the other rank, and
 * words come behind them: after an agreement nothing of the broken team is
 * under way between survivors.
 */
#ifndef DCOLL_SURVIVORS_H
#define DCOLL_SURVIVORS_H

#include "coll/run/team/team.h"
#include "dapl_rail/platform/deadline.h"

/* What this rank tells another one, and has heard from it. */
struct stream {
    unsigned sent; /* words */
    bool hello;    /* the first one is HELLO */
    bool begun, ended;
    unsigned said; /* dead ranks since BEGIN */
    bool lost;     /* its connection has ended, or has not been made */
    bool gone;     /* it has died after the decision */
};

struct survivors {
    dcoll_team_t *team;
    struct shrink_words words;
    unsigned ranks; /* of the team */
    bool *dead;     /* by rank, … */
    unsigned *list; /* … and in the order of finding */
    unsigned count;
    bool decided;
    struct stream *streams; /* by rank */
    unsigned char *said;    /* ranks * ranks: has … said that … is dead? */
    struct deadline deadline;
};

/* 0 or DRAIL_ENOMEM; survivors_close() in either case. */
int survivors_open(struct survivors *s, dcoll_team_t *team);
void survivors_close(struct survivors *s);
/* One agreement; all survivors call it, as often as each other. Sets dead and
 * count, which stay for the next one. 0, or an error of the team: DRAIL_EJOB:
 * other ranks count this one as dead; DRAIL_ETIMEOUT: a rank that is not known
 * to be dead does not come; DRAIL_EINTR. */
int survivors_agree(struct survivors *s);
/* The words of a team's first agreement. */
struct shrink_words survivors_words(const dcoll_team_t *team);

#endif
