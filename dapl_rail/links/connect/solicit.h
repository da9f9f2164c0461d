/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solicitations. Of two ranks the lower one connects. A higher rank that wants
 * a connection solicits it: it sends a connection request that is always
 * rejected, over one rail after the other, until the lower rank answers.
 * By such a request a rank that lacks resources for a connection also tells the
 * other rank, which would wait in vain.
 */
#ifndef DRAIL_LINKS_CONNECT_SOLICIT_H
#define DRAIL_LINKS_CONNECT_SOLICIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <dat2/udat.h>

struct peer;
struct rail;

/* The solicitations that this rank sends to a peer. */
struct solicit {
    DAT_EP_HANDLE ep;         /* of the one under way, or DAT_HANDLE_NULL */
    bool gives_up;            /* that one tells that this rank has given up */
    TAILQ_ENTRY(peer) others; /* drail.soliciting: peers with one under way */
    uint64_t due_ns;          /* the next one, or its answer; 0: not yet set */
    unsigned turn;            /* of the peer's rails */
    unsigned unanswered;      /* in a row, … */
    unsigned refusals; /* … and those of them that a provider refused */
};

/* Sends one if it is due: first soon after the first call, because mostly the
 * peer connects by itself, and again some time after each answer. 0 or an
 * error. */
int solicit(struct peer *peer);
/* Gives up a solicitation that has not been answered for long, and frees its
 * EP. False: there is none. */
bool solicit_expire(struct peer *peer);
/* Tells the peer that this rank has given up its attempt, if it can. */
void solicit_give_up(struct peer *peer);
/* The peer need not be solicited any more. */
void solicit_end(struct peer *peer);
/* A connection event of an EP that no link has, and its text: an answer? */
void solicit_answered(struct rail *rail, const DAT_EVENT *event,
                      const char *text);
/* The receiver's side: rejects the request, with a hello that shows the peer
 * that this rank has received it. */
void solicit_reject(const struct rail *rail, DAT_CR_HANDLE cr);

#endif
