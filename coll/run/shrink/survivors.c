/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll/run/shrink/patience.h"
#include "coll/run/shrink/survivors.h"
#include "coll/run/team/ledger.h"

#define MS 1000000ull

/* Words beside the numbers of dead ranks. */
enum { HELLO, BEGIN, END, OTHERS };

struct shrink_words survivors_words(const dcoll_team_t *team)
{
    return (struct shrink_words){
        .number = team_member(team, 0)->first_id,
        .values = team->shape.nranks + OTHERS,
        .kinds = NOTIFICATION_KINDS,
        .kind = NOTE_SHRINK,
    };
}

int survivors_open(struct survivors *s, dcoll_team_t *team)
{
    const unsigned n = team->shape.nranks;
    *s = (struct survivors){
        .team = team, .ranks = n, .words = survivors_words(team)};
    s->dead = calloc(n, sizeof *s->dead);
    s->list = calloc(n, sizeof *s->list);
    s->streams = calloc(n, sizeof *s->streams);
    s->said = calloc(n, n);
    return s->dead && s->list && s->streams && s->said
               ? 0
               : team_fail(team, DRAIL_ENOMEM, "no memory for an agreement");
}

void survivors_close(struct survivors *s)
{
    free(s->dead);
    free(s->list);
    free(s->streams);
    free(s->said);
}

static bool is_heard(const struct survivors *s, unsigned rank)
{
    return rank != s->team->rank && !s->dead[rank] && !s->streams[rank].gone;
}

static void moved(struct survivors *s)
{
    const dcoll_team_t *team = s->team;
    s->deadline = deadline_after(platform_now(team->platform),
                                 (uint64_t)team->timeout_ms * MS);
}

/* ------------------------------------------------------------ the dead set */

static void bury(struct survivors *s, unsigned rank)
{
    moved(s);
    if (s->decided) {
        s->streams[rank].gone = true;
        return;
    }
    s->dead[rank] = true;
    s->list[s->count++] = rank;
    s->streams[rank].sent = 0; /* what turn_away() tells it */
}

/* Decides on the set that this rank has said. */
static void adopt(struct survivors *s, unsigned from)
{
    const unsigned char *said = s->said + (size_t)from * s->ranks;
    s->decided = true;
    s->count = 0;
    for (unsigned r = 0; r < s->ranks; r++) {
        s->streams[r].gone = s->dead[r] && !said[r];
        s->streams[r].sent = 0;
        s->streams[r].hello = false;
        s->dead[r] = said[r];
        if (said[r])
            s->list[s->count++] = r;
    }
}

static bool all_say_the_same(const struct survivors *s)
{
    for (unsigned r = 0; r < s->ranks; r++)
        if (is_heard(s, r) &&
            (!s->streams[r].begun || s->streams[r].said != s->count))
            return false;
    return true;
}

static bool all_ended(const struct survivors *s)
{
    for (unsigned r = 0; r < s->ranks; r++)
        if (is_heard(s, r) &&
            (!s->streams[r].ended || s->streams[r].sent < s->count + 2))
            return false;
    return true;
}

/* ------------------------------------------------------------------ words */

static int hear_dead(struct survivors *s, unsigned from, unsigned rank)
{
    unsigned char *said = s->said + (size_t)from * s->ranks + rank;
    if (rank == s->team->rank)
        return team_fail(s->team, DRAIL_EJOB,
                         "rank %u counts this rank as dead", from);
    s->streams[from].said += !*said;
    *said = 1;
    if (!s->decided && !s->dead[rank])
        bury(s, rank);
    return 0;
}

static int hear(struct survivors *s, unsigned from, uint32_t id)
{
    struct stream *its = &s->streams[from];
    uint32_t word;
    if (!shrink_word_read(&s->words, id, &word))
        return 0; /* of the broken team, or of an earlier agreement */
    moved(s);
    if (word == HELLO || word == BEGIN) {
        its->begun = true;
        its->said = 0;
        memset(s->said + (size_t)from * s->ranks, 0, s->ranks);
        if (word == HELLO) {
            its->hello = false;
            its->sent = 0;
        }
        return 0;
    }
    if (!its->begun)
        return 0;
    if (word >= OTHERS)
        return hear_dead(s, from, word - OTHERS);
    its->ended = true;
    if (!s->decided)
        adopt(s, from);
    return 0;
}

static uint32_t word_of(const struct survivors *s, const struct stream *to)
{
    if (!to->sent)
        return to->hello ? HELLO : BEGIN;
    return to->sent <= s->count ? OTHERS + s->list[to->sent - 1] : END;
}

/* Sends what it can. 0, or the transport's error. */
static int tell(struct survivors *s, unsigned rank)
{
    const dcoll_team_t *team = s->team;
    struct stream *to = &s->streams[rank];
    int rc = 0;
    while (!rc && to->sent < 1 + s->count + s->decided) {
        rc = drail_put(team->rail, team_peer(team, rank), &(drail_xfer_t){0},
                       DRAIL_NOTIFY | DRAIL_NOWAIT,
                       shrink_word(&s->words, word_of(s, to)), NULL);
        to->sent += !rc;
    }
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

/* Takes what has come, up to END: what follows is not of this agreement. 0; an
 * error of the team; or *lost: of the connection. */
static int listen(struct survivors *s, unsigned rank, bool *lost)
{
    const dcoll_team_t *team = s->team;
    uint32_t id;
    int rc = 0, taken = 0;
    while (!rc && !s->streams[rank].ended && is_heard(s, rank) &&
           !(taken = drail_notify_test(team->rail, team_peer(team, rank), &id)))
        rc = hear(s, rank, id);
    *lost = taken && taken != DRAIL_EAGAIN;
    return rc;
}

/* Tells a rank that counts as dead so: it may live. If it comes later, it says
 * HELLO. */
static void turn_away(struct survivors *s, unsigned rank)
{
    const dcoll_team_t *team = s->team;
    struct stream *to = &s->streams[rank];
    uint32_t id, word;
    int rc = 0;
    while (!(rc = drail_notify_test(team->rail, team_peer(team, rank), &id)))
        if (shrink_word_read(&s->words, id, &word) && word == HELLO)
            to->sent = 0;
    rc = rc == DRAIL_EAGAIN ? 0 : rc;
    while (!rc && to->sent < 2) {
        rc = drail_put(team->rail, team_peer(team, rank), &(drail_xfer_t){0},
                       DRAIL_NOTIFY | DRAIL_NOWAIT,
                       shrink_word(&s->words, to->sent ? OTHERS + rank : BEGIN),
                       NULL);
        to->sent += !rc;
    }
    to->lost = rc && rc != DRAIL_EAGAIN;
}

/* ------------------------------------------------------------- connections */

/* A rank is dead if nobody answers at its address. */
static void connect_again(struct survivors *s, unsigned rank)
{
    struct stream *its = &s->streams[rank];
    const dcoll_team_t *team = s->team;
    int rc = ledger_is_dead(team, rank)
                 ? DRAIL_EPEER
                 : drail_connect_test(team->rail, team_peer(team, rank));
    if (!rc) {
        *its = (struct stream){.hello = true};
        team->connected[rank] = true;
    } else if (rc == DRAIL_EPEER) {
        bury(s, rank);
    }
}

static int serve(struct survivors *s, unsigned rank)
{
    struct stream *its = &s->streams[rank];
    bool lost = false;
    if (its->lost)
        connect_again(s, rank);
    if (its->lost || !is_heard(s, rank))
        return 0;
    int told = tell(s, rank);
    int rc = listen(s, rank, &lost);
    its->lost = told || lost;
    return rc;
}

static int fail_timeout(struct survivors *s)
{
    unsigned r = 0;
    while (r + 1 < s->ranks && (!is_heard(s, r) || s->streams[r].ended))
        r++;
    return team_fail(s->team, DRAIL_ETIMEOUT,
                     "rank %u has not come to shrink the team within %d ms", r,
                     s->team->timeout_ms);
}

/* What this rank has put is complete before it tells anything. A rank that has
 * died is found later. */
static int begin(struct survivors *s)
{
    dcoll_team_t *team = s->team;
    s->decided = false;
    for (unsigned r = 0; r < s->ranks; r++) {
        s->streams[r] =
            (struct stream){.hello = true, .lost = !team->connected[r]};
        int rc = is_heard(s, r) && team->connected[r]
                     ? drail_fence(team->rail, team_peer(team, r))
                     : 0;
        if (rc == DRAIL_EINTR || rc == DRAIL_ETIMEOUT)
            return team_rail_fail(team, rc);
    }
    memset(s->said, 0, (size_t)s->ranks * s->ranks);
    moved(s);
    return 0;
}

/* 0: it is over; DRAIL_EAGAIN; or an error. */
static int step(struct survivors *s)
{
    dcoll_team_t *team = s->team;
    int rc = 0;
    drail_progress(team->rail);
    for (unsigned r = 0; !rc && r < s->ranks; r++)
        if (is_heard(s, r))
            rc = serve(s, r);
        else if (s->dead[r] && !s->streams[r].lost)
            turn_away(s, r);
    if (rc)
        return rc;
    s->decided = s->decided || all_say_the_same(s);
    return s->decided && all_ended(s) ? 0 : DRAIL_EAGAIN;
}

int survivors_agree(struct survivors *s)
{
    dcoll_team_t *team = s->team;
    struct patience patience;
    int rc = begin(s), over = 0;
    if (rc)
        return rc;
    patience_begin(&patience, team_whole_job(team), &team->cfg, &s->deadline);
    while (!over && (rc = step(s)) == DRAIL_EAGAIN)
        over = patience_turn(&patience);
    if (over)
        return over == DRAIL_ETIMEOUT ? fail_timeout(s)
                                      : team_fail(team, over, "interrupted");
    s->words.number++;
    return rc;
}
