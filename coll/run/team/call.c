/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "coll/run/team/call.h"
#include "dapl_rail/platform/fnv.h"

#define IN_PLACE_BIT 0x40000000u
#define LABELLED_BIT 0x20000000u
#define COMMUTES_BIT 0x08000000u
/* root: a checksum of blocks of different sizes */
#define UNEQUAL_BIT 0x10000000u
#define BITS                                                                   \
    (CALL_PREPARES | IN_PLACE_BIT | LABELLED_BIT | COMMUTES_BIT |              \
     UNEQUAL_BIT | CALL_PORTS)

static unsigned count(const dcoll_algorithm_t *const *list)
{
    unsigned n = 0;
    while (list[n])
        n++;
    return n;
}

/* Regular algorithms first, then irregular ones. NULL: there are fewer. */
static const dcoll_algorithm_t *algorithm_at(unsigned index)
{
    unsigned regular = count(dcoll_algorithms());
    unsigned irregular = count(dcoll_algorithms_irregular());
    if (index < regular)
        return dcoll_algorithms()[index];
    return index < regular + irregular
               ? dcoll_algorithms_irregular()[index - regular]
               : NULL;
}

static unsigned algorithm_index(const dcoll_algorithm_t *algorithm)
{
    unsigned i = 0;
    while (algorithm_at(i) != algorithm)
        i++;
    return i;
}

static uint32_t checksum(const size_t *begin, unsigned nranks)
{
    const size_t bytes = (nranks + 1) * sizeof *begin;
    const uint64_t sum = fnv_add(FNV_EMPTY, begin, bytes);
    return (uint32_t)(sum ^ sum >> 32);
}

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, unsigned nranks,
                    bool prepares)
{
    const dcoll_traffic_t *t = args->traffic;
    return (struct call){
        .what = 1 + algorithm_index(algorithm) + args->ports * CALL_PORT +
                (args->in_place ? IN_PLACE_BIT : 0) +
                (args->commutes ? COMMUTES_BIT : 0) +
                (args->begin ? UNEQUAL_BIT : 0) +
                (t && t->labelled ? LABELLED_BIT : 0) +
                (prepares ? CALL_PREPARES : 0),
        .root = t             ? (uint32_t)t->element
                : args->begin ? checksum(args->begin, nranks)
                              : args->root,
        .bytes = t ? t->max_rank : args->bytes,
        .pair = t ? t->max_pair : args->element,
    };
}

bool call_same(const struct call *a, const struct call *b)
{
    return a->what == b->what && a->root == b->root && a->bytes == b->bytes &&
           a->pair == b->pair;
}

void call_text(const struct call *call, char *text, size_t size)
{
    const dcoll_algorithm_t *a = algorithm_at((call->what & ~BITS) - 1);
    const unsigned ports = (call->what & CALL_PORTS) / CALL_PORT;
    const char *prepares = call->what & CALL_PREPARES ? "preparation of " : "";
    char elements[64] = "", through[16] = "";
    if (ports)
        snprintf(through, sizeof through, ", ports %u", ports);
    if (call->pair)
        snprintf(elements, sizeof elements, " in elements of %llu%s",
                 (unsigned long long)call->pair,
                 call->what & COMMUTES_BIT ? ", commutes" : "");
    if (call->what == CALL_SKIPPED)
        snprintf(text, size, "none, as it could not make it");
    else if (!a)
        snprintf(text, size, "nothing known");
    else if (a->collective == DCOLL_ALLTOALLV)
        snprintf(text, size,
                 "%s%s of at most %llu elements of %u bytes a rank, %llu a "
                 "pair, algorithm %s",
                 prepares,
                 call->what & LABELLED_BIT ? "alltoallv" : "alltoall_elements",
                 (unsigned long long)call->bytes, call->root,
                 (unsigned long long)call->pair, a->name);
    else if (call->what & UNEQUAL_BIT)
        snprintf(text, size,
                 "%s%s of %llu bytes and less%s, counts %x"
                 ", algorithm %s%s%s",
                 prepares, dcoll_collective_name(a->collective),
                 (unsigned long long)call->bytes, elements, call->root, a->name,
                 through, call->what & IN_PLACE_BIT ? ", in place" : "");
    else
        snprintf(text, size, "%s%s of %llu bytes%s, root %u, algorithm %s%s%s",
                 prepares, dcoll_collective_name(a->collective),
                 (unsigned long long)call->bytes, elements, call->root, a->name,
                 through, call->what & IN_PLACE_BIT ? ", in place" : "");
}
