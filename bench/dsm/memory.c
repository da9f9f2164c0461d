/* SPDX-License-Identifier: BSD-3-Clause */
#include "memory.h"

#include <stdio.h>
#include <unistd.h>

#include "program.h"

typedef struct need {
    const char *option; /* that asks for the most */
    uint64_t value;
    double most, all; /* bytes */
} need_t;

static void add(need_t *need, const char *option, uint64_t value, double bytes)
{
    need->all += bytes;
    if (bytes <= need->most)
        return;
    need->most = bytes;
    need->option = option;
    need->value = value;
}

/* A program needs twice its shared memory: the DSM_SEEDS results take about as
 * much, half each. */
static void add_programs(need_t *need, const options_t *o)
{
    const struct {
        dsm_kind_t kind;
        const char *option;
        uint64_t value;
    } sizes[] = {{DSM_JACOBI, "--rows", o->dsm.rows},
                 {DSM_LU, "--order", o->dsm.order},
                 {DSM_SORT, "--keys", o->dsm.keys},
                 {DSM_NBODY, "--bodies", o->dsm.bodies}};
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const dsm_program_t *p = program_at(o, sizes[i].kind);
        if (p)
            add(need, sizes[i].option, sizes[i].value,
                2 * (double)p->bytes(o, (unsigned)o->ranks, dsm_page(o)));
    }
}

/* Four times room: shared memory and registered memory, at home and at the
 * client. */
static void add_room(need_t *need, const options_t *o)
{
    const uint64_t room = dsm_room(o);
    uint64_t largest = 0;
    for (unsigned i = 0; dsm_chosen(o, DSM_RANGE) && i < o->nsizes; i++)
        largest = o->sizes[i] > largest ? o->sizes[i] : largest;
    const bool sized = room == largest + 2 * dsm_page(o);
    if (room > dsm_page(o)) /* else nothing is fetched */
        add(need, sized ? "--sizes" : "--pages", sized ? largest : o->dsm.pages,
            4 * (double)room);
}

/* The pages written between barriers, and the page of the counter of the
 * lock. */
static void add_pages(need_t *need, const options_t *o)
{
    const uint64_t page = dsm_page(o);
    if (dsm_chosen(o, DSM_BARRIER))
        add(need, "--page", page, (double)dsm_ring(o, (unsigned)o->ranks));
    if (dsm_chosen(o, DSM_LOCK))
        add(need, "--page", page, (double)page);
}

int dsm_memory_check(const bench_test_t *test, const options_t *opts)
{
    need_t need = {0};
    char value[24], allowed[96];
    double have =
        (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    add_programs(&need, opts);
    add_room(&need, opts);
    add_pages(&need, opts);
    /* if ranks are on several hosts, each host needs only a part */
    if (need.all <= have || (opts->locals && opts->locals < opts->ranks))
        return 0;
    snprintf(value, sizeof value, "%llu", (unsigned long long)need.value);
    snprintf(allowed, sizeof allowed,
             "what fits the memory of %.1f GB: this needs %.1f GB", have / 1e9,
             need.all / 1e9);
    if (!opts->follows)
        option_wrong(&test->table, need.option, value, allowed);
    return -1;
}
