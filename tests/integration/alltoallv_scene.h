/* SPDX-License-Identifier: BSD-3-Clause */
/* A small irregular all-to-all: as much from each rank to each. Tests change
 * something of it. */
#ifndef TESTS_ALLTOALLV_SCENE_H
#define TESTS_ALLTOALLV_SCENE_H

#include "team.h"

enum { RANKS = 3, EACH = 2, ROOM = 16 };

struct element {
    uint32_t to, from;
};

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    size_t send_counts[RANKS], recv_counts[RANKS], displs[RANKS];
    struct element send[ROOM], recv[ROOM];
};

static inline void scene_open(struct scene *s, struct rank *r)
{
    drail_error_t err = {0};
    *s = (struct scene){.r = r};
    check(dcoll_team_create(r->job, r->t, NULL, &s->team, &err) == 0);
    for (unsigned i = 0; i < RANKS; i++) {
        s->send_counts[i] = s->recv_counts[i] = EACH;
        s->displs[i] = (size_t)i * EACH;
    }
    for (unsigned i = 0; i < ROOM; i++)
        s->send[i] = (struct element){i / EACH % RANKS, r->rank};
    memset(s->recv, 0xa5, sizeof s->recv);
}

static inline void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
}

/* EACH elements from each rank to each. */
static inline dcoll_alltoallv_t counted(struct scene *s, const char *algorithm)
{
    return (dcoll_alltoallv_t){.send = s->send,
                               .send_counts = s->send_counts,
                               .recv = s->recv,
                               .recv_counts = s->recv_counts,
                               .element = sizeof(struct element),
                               .algorithm = algorithm};
}

static inline dcoll_elements_t uncounted(struct scene *s, const char *algorithm)
{
    return (dcoll_elements_t){.send = s->send,
                              .count = (size_t)RANKS * EACH,
                              .recv = s->recv,
                              .room = ROOM,
                              .element = sizeof(struct element),
                              .algorithm = algorithm};
}

static inline void fails(const struct scene *s, int rc, const char *text)
{
    team_fails(s->r, s->team, rc, DRAIL_EINVAL, text);
}

/* No more than a first error: the team goes on. */
static inline void works(struct scene *s, const char *algorithm)
{
    dcoll_alltoallv_t c = counted(s, algorithm);
    for (unsigned i = 0; i < RANKS; i++)
        s->send_counts[i] = s->recv_counts[i] = EACH;
    team_good(s->r, s->team, dcoll_alltoallv(s->team, &c), "dcoll_alltoallv");
    for (unsigned i = 0; i < RANKS * EACH; i++)
        check(s->recv[i].from == i / EACH && s->recv[i].to == s->r->rank);
    memset(s->recv, 0xa5, sizeof s->recv);
}

static inline bool untouched(const struct scene *s)
{
    const unsigned char *at = (const unsigned char *)s->recv;
    for (size_t i = 0; i < sizeof s->recv; i++)
        if (at[i] != 0xa5)
            return false;
    return true;
}

#endif
