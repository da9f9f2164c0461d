/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory of requests that a platform has marked as without contents, and cannot
 * unmark when they are freed, is not reused until the team is freed. This
 * program's platform is the machine, and refuses to unmark.
 */
#include "coll/dcoll.h"

#include "machine.h"
#include "ranks.h"

enum { BYTES = 4096, MARKS = 16 };

struct mark {
    unsigned char *begin, *end;
};

static bool refusing;
static struct mark marks[MARKS], refused[MARKS];
static unsigned nmarks, nrefused;

static bool overlap(struct mark a, struct mark b)
{
    return a.begin < b.end && b.begin < a.end;
}

static int hollow(const struct drail_platform *p, void *address, size_t bytes,
                  bool on)
{
    struct mark mark = {address, (unsigned char *)address + bytes};
    if (on) {
        for (unsigned i = 0; i < nrefused; i++)
            check(!overlap(mark, refused[i]));
        check(nmarks < MARKS);
        marks[nmarks++] = mark;
        return 0;
    }
    unsigned i = 0;
    while (i < nmarks && marks[i].begin != mark.begin)
        i++;
    check(i < nmarks && marks[i].end == mark.end);
    marks[i] = marks[--nmarks];
    if (!refusing)
        return 0;
    check(nrefused < MARKS);
    refused[nrefused++] = mark;
    return DRAIL_ENOMEM;
}

/* Where the memory of a request was that has been freed. */
static struct mark freed(struct rank *r, dcoll_team_t *team,
                         unsigned char *blocks)
{
    dcoll_request_t *request;
    dcoll_call_t call = {.collective = DCOLL_ALLGATHER,
                         .send = DCOLL_IN_PLACE,
                         .recv = blocks,
                         .bytes = BYTES,
                         .algorithm = "bruck"};
    expect(r, 0, dcoll_init(team, &call, &request));
    expect(r, 0, dcoll_start(request));
    expect(r, 0, dcoll_wait(request, -1));
    check(nmarks == 1);
    struct mark mark = marks[0];
    barrier(r);
    expect(r, 0, dcoll_free(request));
    check(!nmarks);
    return mark;
}

static void refused_memory(struct rank *r)
{
    dcoll_team_t *team;
    unsigned char *blocks = calloc(r->size, BYTES);
    check(blocks != NULL);
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    struct mark first = freed(r, team, blocks);
    refusing = true;
    check(freed(r, team, blocks).begin == first.begin);
    refusing = false;
    check(nrefused == 1);
    struct mark other = freed(r, team, blocks);
    check(!overlap(other, first));
    check(freed(r, team, blocks).begin == other.begin);
    barrier(r);
    dcoll_team_free(team);
    free(blocks);
}

static const struct test tests[] = {
    {"memory that stays closed", 3, refused_memory, NULL, PPN(1)},
};

int main(int argc, char **argv)
{
    struct drail_platform platform = *machine_platform();
    platform.hollow = hollow;
    ranks_platform = &platform;
    return run_tests(tests, 1, 1, argc, argv);
}
