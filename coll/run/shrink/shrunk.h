/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a shrunk team in the job of its rails: which ranks it has, and
 * how they exchange what other teams exchange outside the rails (gather.h). */
#ifndef DCOLL_SHRUNK_H
#define DCOLL_SHRUNK_H

#include <limits.h>

#include "coll/dcoll.h"

/* The words of an agreement (survivors.h): it has a number, and words that are
 * less than `values`. */
struct shrink_words {
    uint32_t number, values, kinds, kind; /* as NOTIFICATION_KINDS */
};

static inline uint32_t shrink_word(const struct shrink_words *w, uint32_t value)
{
    uint32_t numbers = UINT32_MAX / w->kinds / w->values;
    return (w->number % numbers * w->values + value) * w->kinds + w->kind;
}

/* False: the notification is none of this agreement. */
static inline bool shrink_word_read(const struct shrink_words *w, uint32_t id,
                                    uint32_t *value)
{
    *value = id / w->kinds % w->values;
    return id == shrink_word(w, *value);
}

struct shrunk {
    drail_job_t *whole, *job; /* of the rails, and of the team's ranks */
    drail_t *rail;
    unsigned ranks, rank; /* of the team */
    unsigned *peers;      /* by rank of the team: of the whole job, … */
    unsigned *rank_of;    /* … and back; UINT_MAX: not of this team */
    dcoll_config_t cfg;
    dcoll_team_t *team; /* NULL: not made yet */

    /* the all-gather */
    unsigned char *area; /* two parts, used in turn */
    drail_mem_t *mem;
    drail_key_t *keys;        /* by rank: its area */
    uint32_t *arrived;        /* by rank: pieces that have come from it, … */
    uint32_t *posted;         /* … and that this rank has put there */
    uint32_t pieces;          /* complete */
    struct shrink_words next; /* the agreement that a rank enters when it gives
                                 up this team */
    bool *left;               /* by rank: it has */
};

static inline unsigned shrunk_peer(const struct shrunk *s, unsigned rank)
{
    return s->peers[rank];
}

static inline unsigned shrunk_rank(const struct shrunk *s, unsigned peer)
{
    return s->rank_of[peer];
}

static inline drail_job_t *shrunk_whole(const struct shrunk *s)
{
    return s->whole;
}

/* Frees it, and leaves its job. NULL: does nothing. */
void shrunk_free(struct shrunk *s);

/* A notification of an all-gather, or of an agreement. NULL: the team has no
 * such all-gather, so that the notification is late. */
static inline void shrunk_note(struct shrunk *s, unsigned rank, uint32_t id)
{
    uint32_t value;
    if (!s)
        return;
    if (id % s->next.kinds != s->next.kind)
        s->arrived[rank]++;
    else if (shrink_word_read(&s->next, id, &value))
        s->left[rank] = true;
}

#endif
