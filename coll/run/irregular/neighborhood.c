/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "coll/run/irregular/neighborhood.h"
#include "coll/run/team/team.h"

/* What a rank sends, or receives. */
struct side {
    const char *list, *buffer; /* names of the arguments */
    unsigned char *user;
    dcoll_block_t *blocks;
    unsigned n;
    size_t *counts, *displs; /* by rank */
    size_t *next;            /* by rank: the end of its blocks so far */
    unsigned char *packed;   /* NULL: the user's buffer is used as it is */
};

struct neighborhood {
    struct side send, recv;
    int wrong;
};

/* ---------------------------------------------------------------- checks */

static int check_block(dcoll_team_t *team, const struct side *s, unsigned i)
{
    const dcoll_block_t *b = &s->blocks[i];
    if (b->rank >= team->shape.nranks)
        return team_fail(
            team, DRAIL_EINVAL, "rank %u: %s[%u].rank is %d: allowed are 0…%u",
            team->rank, s->list, i, (int)b->rank, team->shape.nranks - 1);
    if (b->bytes > UINT32_MAX - s->counts[b->rank])
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %s[%u].bytes is %zd: allowed are 0…%u, and "
                         "as many for all blocks of rank %u",
                         team->rank, s->list, i, (ssize_t)b->bytes, UINT32_MAX,
                         b->rank);
    if (b->bytes && b->begin > PTRDIFF_MAX - b->bytes)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %s[%u].begin is %zd: with its %zu bytes "
                         "that is beyond %td",
                         team->rank, s->list, i, (ssize_t)b->begin, b->bytes,
                         PTRDIFF_MAX);
    if (b->bytes && (!s->user || s->user == DCOLL_IN_PLACE))
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %s is %s, but %s[%u] "
                         "has %zu bytes",
                         team->rank, s->buffer,
                         s->user ? "DCOLL_IN_PLACE" : "NULL", s->list, i,
                         b->bytes);
    return 0;
}

/* Adds up the bytes of each rank. */
static int add_up(dcoll_team_t *team, const struct side *s)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < s->n; i++) {
        rc = check_block(team, s, i);
        if (!rc)
            s->counts[s->blocks[i].rank] += s->blocks[i].bytes;
    }
    return rc;
}

/* Mostly they are listed in the order of the buffer. */
static bool is_ascending(const struct side *s)
{
    size_t end = 0;
    for (unsigned i = 0; i < s->n; i++) {
        const dcoll_block_t *b = &s->blocks[i];
        if (b->bytes && b->begin < end)
            return false;
        end = b->bytes ? b->begin + b->bytes : end;
    }
    return true;
}

static int check_overlap(dcoll_team_t *team, const struct side *s)
{
    if (is_ascending(s))
        return 0;
    struct range *r = calloc(s->n, sizeof *r);
    unsigned used = 0;
    int rc = r ? 0 : DRAIL_ENOMEM;
    for (unsigned i = 0; !rc && i < s->n; i++) {
        const dcoll_block_t *b = &s->blocks[i];
        if (b->bytes)
            r[used++] = (struct range){b->begin, b->begin + b->bytes, i};
    }
    if (!rc)
        rc = ranges_check(team, s->list, r, used);
    free(r);
    return rc;
}

/* ---------------------------------------------------------------- layout */

/* Places each rank's blocks where the user has them. False: they do not follow
 * each other. */
static bool place_in_user(const struct side *s)
{
    for (unsigned i = 0; i < s->n; i++) {
        const dcoll_block_t *b = &s->blocks[i];
        size_t *next = &s->next[b->rank];
        if (!b->bytes)
            continue;
        if (!*next)
            s->displs[b->rank] = b->begin;
        else if (*next != b->begin)
            return false;
        *next = b->begin + b->bytes;
    }
    return true;
}

/* Places them one rank after another. Returns the bytes of all. */
static size_t place_packed(const struct side *s, unsigned nranks)
{
    size_t all = 0;
    for (unsigned r = 0; r < nranks; all += s->counts[r++])
        s->displs[r] = all;
    return all;
}

static int lay_out(dcoll_team_t *team, struct side *s)
{
    if (place_in_user(s))
        return 0;
    s->packed = malloc(place_packed(s, team->shape.nranks));
    return s->packed ? 0 : DRAIL_ENOMEM;
}

/* ------------------------------------------------------------------ open */

static int open_side(dcoll_team_t *team, struct side *s,
                     const dcoll_block_t *blocks)
{
    if (s->n && !blocks)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %s is NULL, but has %u blocks", team->rank,
                         s->list, s->n);
    if (s->n)
        memcpy(s->blocks, blocks, s->n * sizeof *blocks);
    int rc = add_up(team, s);
    return rc ? rc : lay_out(team, s);
}

/* One piece of memory: short calls should not take long. */
static struct neighborhood *allocate(const dcoll_team_t *team,
                                     const dcoll_neighbor_alltoallv_t *call)
{
    const size_t ranks = team->shape.nranks;
    const size_t blocks = (size_t)call->ndestinations + call->nsources;
    struct neighborhood *n = calloc(1, sizeof *n + 6 * ranks * sizeof(size_t) +
                                           blocks * sizeof(dcoll_block_t));
    if (!n)
        return NULL;
    size_t *numbers = (size_t *)(n + 1);
    dcoll_block_t *listed = (dcoll_block_t *)(numbers + 6 * ranks);
    n->send = (struct side){.list = "destinations",
                            .buffer = "send",
                            .user = (unsigned char *)call->send,
                            .blocks = listed,
                            .n = call->ndestinations,
                            .counts = numbers,
                            .displs = numbers + ranks,
                            .next = numbers + 2 * ranks};
    n->recv = (struct side){.list = "sources",
                            .buffer = "recv",
                            .user = call->recv,
                            .blocks = listed + call->ndestinations,
                            .n = call->nsources,
                            .counts = numbers + 3 * ranks,
                            .displs = numbers + 4 * ranks,
                            .next = numbers + 5 * ranks};
    return n;
}

int neighborhood_open(dcoll_team_t *team,
                      const dcoll_neighbor_alltoallv_t *call,
                      struct neighborhood **out)
{
    struct neighborhood *n = allocate(team, call);
    int rc = n ? open_side(team, &n->send, call->destinations) : DRAIL_ENOMEM;
    if (!rc)
        rc = open_side(team, &n->recv, call->sources);
    if (!rc)
        rc = check_overlap(team, &n->recv);
    if (rc == DRAIL_ENOMEM) {
        neighborhood_close(n);
        return team_fail(team, rc, "no memory for neighbours");
    }
    n->wrong = rc;
    *out = n;
    return 0;
}

void neighborhood_close(struct neighborhood *n)
{
    if (!n)
        return;
    free(n->send.packed);
    free(n->recv.packed);
    free(n);
}

struct elements neighborhood_elements(const struct neighborhood *n)
{
    const struct side *send = &n->send, *recv = &n->recv;
    return (struct elements){
        .send = send->packed ? send->packed : send->user,
        .recv = recv->packed ? recv->packed : recv->user,
        .element = 1,
        .send_counts = send->counts,
        .send_displs = send->displs,
        .recv_counts = recv->counts,
        .recv_displs = recv->displs,
        .wrong = n->wrong,
        .listed = true,
    };
}

/* --------------------------------------------------------- pack, unpack */

/* The place of the next block of each rank moves on in displs, and back. */
static void move_blocks(const struct side *s, bool pack)
{
    for (unsigned i = 0; s->packed && i < s->n; i++) {
        const dcoll_block_t *b = &s->blocks[i];
        unsigned char *there = s->packed + s->displs[b->rank];
        if (b->bytes && pack)
            memcpy(there, s->user + b->begin, b->bytes);
        else if (b->bytes)
            memcpy(s->user + b->begin, there, b->bytes);
        s->displs[b->rank] += b->bytes;
    }
    for (unsigned i = 0; s->packed && i < s->n; i++)
        s->displs[s->blocks[i].rank] -= s->blocks[i].bytes;
}

void neighborhood_pack(const struct neighborhood *n)
{
    move_blocks(&n->send, true);
}

void neighborhood_unpack(const struct neighborhood *n)
{
    move_blocks(&n->recv, false);
}
