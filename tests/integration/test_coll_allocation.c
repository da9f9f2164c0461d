/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starts of persistent collectives allocate nothing: this program's malloc()
 * counts, and calls that of the C library. Sanitizers replace malloc(), so
 * there the collectives only run.
 */
#include <stdlib.h>

#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/stand_in.h"
#include "tests/unit/collectives.h"

#define BYTES  3000
#define STARTS 20

static _Thread_local unsigned allocations;

#ifndef DRAIL_SANITIZE
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

STAND_IN void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}

STAND_IN void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}

STAND_IN void *realloc(void *p, size_t size)
{
    allocations++;
    return __libc_realloc(p, size);
}
#endif

static void run(struct rank *r, dcoll_team_t *team, const dcoll_call_t *call)
{
    dcoll_request_t *q;
    expect(r, 0, dcoll_init(team, call, &q));
    unsigned before = 0;
    for (unsigned start = 0; start < STARTS; start++) {
        if (start == 1)
            before = allocations;
        expect(r, 0, dcoll_start(q));
        expect(r, 0, dcoll_wait(q, -1));
    }
    if (allocations != before)
        printf("# rank %u: %s: %u allocations\n", r->rank, call->algorithm,
               allocations - before);
    check(allocations == before);
    expect(r, 0, dcoll_free(q));
}

static void every_algorithm(struct rank *r)
{
    dcoll_team_t *team;
    drail_mem_t *mem;
    unsigned char *memory;
    unsigned done = 0;
    const size_t each = (size_t)r->size * BYTES;
    allocations = 0;
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
#ifndef DRAIL_SANITIZE
    check(allocations > 0); /* allocations of the libraries are counted */
#endif
    expect(r, 0,
           drail_mem_alloc(r->t, 2 * each, DRAIL_ACCESS_ALL, (void **)&memory,
                           &mem));
    const dcoll_shape_t *shape = dcoll_team_shape(team);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        dcoll_args_t args = {
            .collective = (*a)->collective, .commutes = true, .depth = 2};
        if (dcoll_refusal(*a, shape, &args))
            continue;
        const size_t sizes[] = {8, BYTES};
        for (unsigned i = 0; i < 2; i++)
            run(r, team,
                &(dcoll_call_t){.collective = (*a)->collective,
                                .send = memory,
                                .recv = memory + each,
                                .bytes = sizes[i],
                                .algorithm = (*a)->name,
                                .reduction = reduction_for(*a, shape)});
        done++;
    }
    check(done > 10);
    barrier(r);
    dcoll_team_free(team);
    expect(r, 0, drail_mem_release(mem));
}

static const struct test tests[] = {
    {"four ranks", 4, every_algorithm, NULL, APART},
    {"two nodes of two", 4, every_algorithm, NULL, APART | PPN(2)},
};

RUN_TESTS(tests)
