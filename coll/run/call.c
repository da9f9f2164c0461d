/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "coll/run/call.h"

#define IN_PLACE_BIT 0x40000000u

static unsigned algorithm_index(const dcoll_algorithm_t *algorithm)
{
    unsigned i = 0;
    while (dcoll_algorithms()[i] != algorithm)
        i++;
    return i;
}

struct call call_of(const dcoll_args_t *args,
                    const dcoll_algorithm_t *algorithm, bool prepares)
{
    return (struct call){
        .what = 1 + algorithm_index(algorithm) +
                (args->in_place ? IN_PLACE_BIT : 0) +
                (prepares ? CALL_PREPARES : 0),
        .root = args->root,
        .bytes = args->bytes,
    };
}

bool call_same(const struct call *a, const struct call *b)
{
    return a->what == b->what && a->root == b->root && a->bytes == b->bytes;
}

static unsigned algorithms_count(void)
{
    unsigned n = 0;
    while (dcoll_algorithms()[n])
        n++;
    return n;
}

void call_text(const struct call *call, char *text, size_t size)
{
    unsigned index = (call->what & ~(CALL_PREPARES | IN_PLACE_BIT)) - 1;
    if (index >= algorithms_count()) {
        snprintf(text, size, "nothing known");
        return;
    }
    const dcoll_algorithm_t *a = dcoll_algorithms()[index];
    snprintf(text, size, "%s%s of %llu bytes, root %u, algorithm %s%s",
             call->what & CALL_PREPARES ? "preparation of " : "",
             dcoll_collective_name(a->collective),
             (unsigned long long)call->bytes, call->root, a->name,
             call->what & IN_PLACE_BIT ? ", in place" : "");
}
