/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large parts of an irregular all-to-all within a node: they are read where
 * they are, and nothing is registered for it; over a rail where the kernel does
 * not let one of the ranks read. This program stands in for the kernel.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "coll/dcoll.h"

#include "standin.h"

enum { RANKS = 3, PART = 70001 };

static atomic_bool forbidden;
/* Of the rank's thread; the provider's have looks of their own. */
static _Thread_local unsigned reads, registrations;

#pragma GCC visibility push(default)
ssize_t process_vm_readv(pid_t pid, const struct iovec *here,
                         unsigned long n_here, const struct iovec *there,
                         unsigned long n_there, unsigned long flags)
{
    reads++;
    if (!forbidden)
        return syscall(SYS_process_vm_readv, pid, here, n_here, there, n_there,
                       flags);
    errno = EPERM;
    return -1;
}

int drail_mem_register(drail_t *rail, void *address, size_t bytes,
                       unsigned access, drail_mem_t **mem)
{
    __typeof__(&drail_mem_register) real;
    *(void **)&real = real_call("drail_mem_register");
    registrations++;
    return real(rail, address, bytes, access, mem);
}
#pragma GCC visibility pop

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char *send, *recv;
    size_t counts[RANKS], expected[RANKS];
};

static unsigned char content(unsigned from, unsigned to, size_t i)
{
    return (unsigned char)(from * 31 + to * 7 + i % 251);
}

/* The memory stays the caller's. */
static void scene_open(struct scene *s, struct rank *r, unsigned char *send,
                       unsigned char *recv)
{
    *s = (struct scene){.r = r, .send = send, .recv = recv};
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &s->team, NULL));
    for (unsigned to = 0; to < RANKS; to++) {
        s->counts[to] = s->expected[to] = PART;
        for (size_t i = 0; i < PART; i++)
            send[to * PART + i] = content(r->rank, to, i);
    }
}

/* Of what is for the rank before and for the one behind each rank. */
static void lengths(struct scene *s, size_t before, size_t behind)
{
    unsigned me = s->r->rank;
    s->counts[me] = s->expected[me] = 0;
    s->counts[(me + RANKS - 1) % RANKS] = before;
    s->counts[(me + 1) % RANKS] = behind;
    s->expected[(me + 1) % RANKS] = before;
    s->expected[(me + RANKS - 1) % RANKS] = behind;
}

static void exchange(struct scene *s)
{
    const size_t places[RANKS] = {0, PART, 2 * PART};
    const dcoll_alltoallv_t call = {.send = s->send,
                                    .send_counts = s->counts,
                                    .send_displs = places,
                                    .recv = s->recv,
                                    .recv_counts = s->expected,
                                    .recv_displs = places,
                                    .element = 1};
    memset(s->recv, 0, (size_t)RANKS * PART);
    expect(s->r, 0, dcoll_alltoallv(s->team, &call));
    for (unsigned from = 0; from < RANKS; from++)
        for (size_t i = 0; i < s->expected[from]; i++)
            check(s->recv[from * PART + i] == content(from, s->r->rank, i));
}

/* Those of a call that is not the first. */
static unsigned reads_of(struct scene *s)
{
    exchange(s);
    reads = 0;
    exchange(s);
    return reads;
}

static void scene_close(struct scene *s)
{
    barrier(s->r);
    dcoll_team_free(s->team);
}

static void plain(struct rank *r)
{
    struct scene s;
    unsigned char *buffers = malloc(2 * RANKS * PART);
    check(buffers != NULL);
    scene_open(&s, r, buffers, buffers + RANKS * PART);
    exchange(&s); /* makes what is kept */
    registrations = reads = 0;
    exchange(&s);
    check(registrations == 0);
    check(reads == RANKS - 1);
    scene_close(&s);
    free(buffers);
}

/* Parts that are copied and parts that are read, by the longest of a rank. */
static void by_length(struct rank *r)
{
    struct scene s;
    unsigned char *buffers = malloc(2 * RANKS * PART);
    check(buffers != NULL);
    scene_open(&s, r, buffers, buffers + RANKS * PART);
    lengths(&s, 20000, 20000);
    check(reads_of(&s) == 0);
    lengths(&s, 20000, 40000);
    check(reads_of(&s) == RANKS - 1);
    lengths(&s, 2000, 40000);
    check(reads_of(&s) == 1);
    scene_close(&s);
    free(buffers);
}

/* Then all must know. */
static void one_may_not(struct rank *r)
{
    struct scene s;
    drail_mem_t *mem;
    void *buffers;
    expect(r, 0,
           drail_mem_alloc(r->t, 2 * RANKS * PART, DRAIL_ACCESS_ALL, &buffers,
                           &mem));
    forbidden = r->rank == 1;
    scene_open(&s, r, buffers, (unsigned char *)buffers + RANKS * PART);
    exchange(&s); /* connects: the provider has its own look */
    reads = 0;
    exchange(&s);
    check(reads == 0);
    scene_close(&s);
    expect(r, 0, drail_mem_release(mem));
}

static const struct test tests[] = {
    {"the kernel copies", RANKS, plain, NULL, APART},
    {"by length", RANKS, by_length, NULL, APART},
    {"one rank may not read", RANKS, one_may_not, NULL, APART},
};

RUN_TESTS(tests)
