/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks the counts and places of a call, and whether the elements that arrived
 * fit them. */
#include <stdlib.h>
#include <string.h>

#include "coll/run/irregular/bounds.h"
#include "coll/run/request.h"

static int fail_count(dcoll_team_t *team, const char *name, unsigned index,
                      size_t count)
{
    return team_fail(team, DRAIL_EINVAL,
                     "rank %u: %s[%u] is %zd: allowed are 0…%u", team->rank,
                     name, index, (ssize_t)count, UINT32_MAX);
}

/* Adds up counts, and checks that each is possible. */
static int add_up(dcoll_team_t *team, const char *name, const size_t *counts,
                  size_t element, uint64_t *total, uint64_t *most)
{
    *total = 0;
    for (unsigned i = 0; i < team->shape.nranks; i++) {
        if (counts[i] > UINT32_MAX)
            return fail_count(team, name, i, counts[i]);
        *total += counts[i];
        *most = counts[i] > *most ? counts[i] : *most;
        if (*total > PTRDIFF_MAX / element)
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u: %s[0…%u] are more than %td bytes",
                             team->rank, name, i, PTRDIFF_MAX);
    }
    return 0;
}

/* --------------------------------------------------------------- places --- */

static int by_begin(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

int ranges_check(dcoll_team_t *team, const char *name, struct range *r,
                 unsigned n)
{
    qsort(r, n, sizeof *r, by_begin);
    for (unsigned i = 1; i < n; i++)
        if (r[i].begin < r[i - 1].end)
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u: %s[%u] and %s[%u] overlap: elements "
                             "%zu…%zu and %zu…%zu",
                             team->rank, name, r[i - 1].index, name, r[i].index,
                             r[i - 1].begin, r[i - 1].end - 1, r[i].begin,
                             r[i].end - 1);
    return 0;
}

/* Checks that places are possible and, if they are written, do not overlap. */
static int check_places(dcoll_team_t *team, const char *name,
                        const size_t *counts, const size_t *displs,
                        size_t element, bool written)
{
    unsigned n = team->shape.nranks, used = 0;
    struct range *r = calloc(n, sizeof *r);
    int rc = r ? 0 : team_fail(team, DRAIL_ENOMEM, "no memory for a check");
    for (unsigned i = 0; !rc && i < n; i++) {
        if (!counts[i])
            continue;
        if (displs[i] > PTRDIFF_MAX / element - counts[i])
            rc = team_fail(team, DRAIL_EINVAL,
                           "rank %u: %s[%u] is %zd: with its %zu elements "
                           "that is beyond %td bytes",
                           team->rank, name, i, (ssize_t)displs[i], counts[i],
                           PTRDIFF_MAX);
        else
            r[used++] = (struct range){displs[i], displs[i] + counts[i], i};
    }
    if (!rc && written)
        rc = ranges_check(team, name, r, used);
    free(r);
    return rc;
}

/* ------------------------------------------------------- with counts --- */

static int check_labelled(dcoll_team_t *team, const struct elements *e,
                          struct demand *demand, uint64_t *row)
{
    int rc = add_up(team, "send_counts", e->send_counts, e->element,
                    &demand->sent, &demand->pair);
    if (!rc && demand->sent && !e->send)
        rc = team_fail(team, DRAIL_EINVAL, "rank %u: send is NULL", team->rank);
    if (!rc && e->send_displs && !e->listed)
        rc = check_places(team, "send_displs", e->send_counts, e->send_displs,
                          e->element, false);
    for (unsigned i = 0; !rc && row && i < team->shape.nranks; i++)
        row[i] = e->send_counts[i];
    if (rc || !e->recv_counts)
        return rc;
    rc = add_up(team, "recv_counts", e->recv_counts, e->element,
                &demand->received, &demand->pair);
    if (!rc && demand->received && !e->recv)
        rc = team_fail(team, DRAIL_EINVAL, "rank %u: recv is NULL", team->rank);
    if (!rc && e->recv_displs && !e->listed)
        rc = check_places(team, "recv_displs", e->recv_counts, e->recv_displs,
                          e->element, true);
    return rc;
}

/* -------------------------------------------------- with destinations --- */

static int count_elements(dcoll_team_t *team, const struct elements *e,
                          size_t count, struct demand *demand, uint64_t *row)
{
    unsigned n = team->shape.nranks;
    for (size_t i = 0; i < count; i++) {
        uint32_t dst = elements_destination(e, e->send + i * e->element);
        if (dst >= n)
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u: the destination of element %zu is %u: "
                             "allowed are 0…%u",
                             team->rank, i, dst, n - 1);
        row[dst]++;
    }
    for (unsigned i = 0; i < n; i++)
        if (row[i] > demand->pair) {
            demand->pair = row[i];
            demand->pair_to = i;
        }
    if (demand->pair > UINT32_MAX)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %llu elements for rank %u: allowed are "
                         "0…%u",
                         team->rank, (unsigned long long)demand->pair,
                         demand->pair_to, UINT32_MAX);
    return 0;
}

static int check_unlabelled(dcoll_team_t *team, const struct elements *e,
                            struct demand *demand, uint64_t *row)
{
    size_t count = elements_count(e);
    if (count > PTRDIFF_MAX / e->element)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %zd elements of %zu bytes are too many",
                         team->rank, (ssize_t)count, e->element);
    if (count && !e->send)
        return team_fail(team, DRAIL_EINVAL, "rank %u: send is NULL",
                         team->rank);
    demand->sent = count;
    uint64_t *counts = row ? row : calloc(team->shape.nranks, sizeof *counts);
    int rc = counts ? count_elements(team, e, count, demand, counts)
                    : team_fail(team, DRAIL_ENOMEM, "no memory for a check");
    if (!row)
        free(counts);
    return rc;
}

int elements_check(dcoll_team_t *team, const struct elements *e, bool labelled,
                   struct demand *demand, uint64_t *row)
{
    *demand = (struct demand){0};
    if (e->wrong)
        return e->wrong;
    int rc = elements_check_form(team, e, labelled);
    if (rc)
        return rc;
    return labelled ? check_labelled(team, e, demand, row)
                    : check_unlabelled(team, e, demand, row);
}

/* ----------------------------------------------------------------- form --- */

static int check_form_labelled(dcoll_team_t *team, const struct elements *e)
{
    if (!e->send_counts)
        return team_fail(team, DRAIL_EINVAL, "rank %u: send_counts is NULL",
                         team->rank);
    if (e->recv_displs && !e->recv_counts)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: recv_displs without recv_counts",
                         team->rank);
    return 0;
}

static int check_form_unlabelled(dcoll_team_t *team, const struct elements *e)
{
    if (e->element < sizeof(uint32_t) ||
        e->destination > e->element - sizeof(uint32_t))
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: a destination at offset %zu of an element "
                         "of %zu bytes: it has 4 bytes",
                         team->rank, e->destination, e->element);
    return 0;
}

int elements_check_form(dcoll_team_t *team, const struct elements *e,
                        bool labelled)
{
    const unsigned char *in_place = DCOLL_IN_PLACE;
    if (!e->element || e->element > UINT32_MAX)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: elements of %zd bytes: allowed are 1…%u",
                         team->rank, (ssize_t)e->element, UINT32_MAX);
    if (e->send == in_place || e->recv == in_place)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: DCOLL_IN_PLACE is wrong here: an irregular "
                         "all-to-all has two buffers",
                         team->rank);
    if (!e->recv_counts && e->room > PTRDIFF_MAX / e->element)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: room for %zu elements: that is beyond %td "
                         "bytes",
                         team->rank, e->room, PTRDIFF_MAX);
    if (!e->recv_counts && e->room && !e->recv)
        return team_fail(team, DRAIL_EINVAL, "rank %u: recv is NULL",
                         team->rank);
    return labelled ? check_form_labelled(team, e)
                    : check_form_unlabelled(team, e);
}

/* -------------------------------------------------------------- extents --- */

size_t elements_begin(const struct elements *e, unsigned to)
{
    size_t before = 0;
    if (e->send_displs)
        return e->send_displs[to] * e->element;
    for (unsigned i = 0; i < to; i++)
        before += e->send_counts[i];
    return before * e->element;
}

size_t elements_send_extent(const struct elements *e, unsigned nranks)
{
    size_t end = 0, next = 0;
    for (unsigned i = 0; i < nranks; i++) {
        size_t at = e->send_displs ? e->send_displs[i] : next;
        next = at + e->send_counts[i];
        end = e->send_counts[i] && next > end ? next : end;
    }
    return end * e->element;
}

/* ------------------------------------------------------------- arrivals --- */

int elements_unexpected(dcoll_team_t *team, const struct elements *e,
                        unsigned from, uint64_t sent)
{
    const unsigned long long its = sent;
    if (e->listed)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: sources have %zu bytes of rank %u, but rank "
                         "%u has %llu for it: nothing was written",
                         team->rank, e->recv_counts[from], from, from, its);
    return team_fail(team, DRAIL_EINVAL,
                     "rank %u: recv_counts[%u] is %zu, but rank %u has %llu "
                     "elements for it: nothing was written",
                     team->rank, from, e->recv_counts[from], from, its);
}

int elements_check_arrived(const dcoll_request_t *q)
{
    const struct elements *e = &q->elements;
    uint64_t total = 0;
    for (unsigned i = 0; i < q->team->shape.nranks; i++) {
        uint64_t arrived = q->dealing.arrived[i];
        if (e->recv_counts && arrived != e->recv_counts[i])
            return elements_unexpected(q->team, e, i, arrived);
        total = arrived > UINT64_MAX - total ? UINT64_MAX : total + arrived;
    }
    uint64_t bound = q->traffic.max_rank;
    if (bound && total > bound)
        return team_fail(q->team, DRAIL_EINVAL,
                         "rank %u: %llu elements have come: the bound max_rank "
                         "is %llu: nothing was written",
                         q->team->rank, (unsigned long long)total,
                         (unsigned long long)bound);
    if (e->recv_counts || total <= e->room)
        return 0;
    return team_fail(q->team, DRAIL_EINVAL,
                     "rank %u: recv has room for %zu elements, but %llu have "
                     "come: nothing was written",
                     q->team->rank, e->room, (unsigned long long)total);
}

void elements_place(dcoll_request_t *q)
{
    const struct elements *e = &q->elements;
    uint64_t begin = 0;
    for (unsigned i = 0; i < q->team->shape.nranks; i++) {
        uint64_t arrived = q->dealing.arrived[i];
        if (e->found)
            e->found[i] = arrived;
        q->dealing.arrived[i] =
            e->recv_counts && e->recv_displs ? e->recv_displs[i] : begin;
        begin += arrived;
    }
    if (e->received)
        *e->received = begin;
}

size_t elements_extent(const dcoll_request_t *q)
{
    const struct elements *e = &q->elements;
    size_t end = 0, next = 0;
    if (!e->recv_counts)
        return e->room * e->element;
    for (unsigned i = 0; i < q->team->shape.nranks; i++) {
        size_t at = e->recv_displs ? e->recv_displs[i] : next;
        next = at + e->recv_counts[i];
        end = e->recv_counts[i] && next > end ? next : end;
    }
    return end * e->element;
}

/* ------------------------------------------------------- state of a start */

int dealing_open(struct dealing *d, unsigned nranks)
{
    d->counter = calloc(nranks, sizeof *d->counter);
    d->bucket = calloc(nranks, sizeof *d->bucket);
    d->dealt = calloc(nranks, sizeof *d->dealt);
    d->arrived = calloc(nranks, sizeof *d->arrived);
    d->offers = calloc(nranks, sizeof *d->offers);
    d->pulled = calloc(nranks, sizeof *d->pulled);
    return d->counter && d->bucket && d->dealt && d->arrived && d->offers &&
                   d->pulled
               ? 0
               : DRAIL_ENOMEM;
}

void dealing_close(struct dealing *d)
{
    free(d->counter);
    free(d->bucket);
    free(d->dealt);
    free(d->arrived);
    free(d->offers);
    free(d->pulled);
}
