/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long parts of an irregular all-to-all within a node are read in the sender's
 * buffer, without a registration: by the kernel, or by rails that map both
 * buffers. If the kernel forbids one rank to read, or its pids mean other
 * processes, a rail is used. This program stands in for the kernel.
 */
#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/stand_in.h"

enum { RANKS = 3, PART = 70001 };

static atomic_bool forbidden;
static atomic_bool elsewhere; /* where pids are those of others */
/* Of the rank's thread; the provider's have looks of their own. */
static _Thread_local unsigned reads, registrations, looks, gets;

STAND_IN ssize_t process_vm_readv(pid_t pid, const struct iovec *here,
                                  unsigned long n_here,
                                  const struct iovec *there,
                                  unsigned long n_there, unsigned long flags)
{
    ssize_t bytes = 0;
    reads++;
    if (elsewhere) { /* something is there, but it isn't what was sent */
        for (unsigned long i = 0; i < n_here; i++) {
            memset(here[i].iov_base, 0x5a, here[i].iov_len);
            bytes += (ssize_t)here[i].iov_len;
        }
        return bytes;
    }
    if (!forbidden)
        return syscall(SYS_process_vm_readv, pid, here, n_here, there, n_there,
                       flags);
    errno = EPERM;
    return -1;
}

STAND_IN int drail_mem_register(drail_t *rail, void *address, size_t bytes,
                                unsigned access, drail_mem_t **mem)
{
    registrations++;
    return real(drail_mem_register)(rail, address, bytes, access, mem);
}

STAND_IN drail_mem_t *drail_mem_find(drail_t *rail, const void *address,
                                     size_t bytes, unsigned access)
{
    looks++;
    return real(drail_mem_find)(rail, address, bytes, access);
}

STAND_IN int drail_get(drail_t *rail, unsigned peer, const drail_xfer_t *xfer,
                       unsigned flags, drail_req_t *request)
{
    gets++;
    return real(drail_get)(rail, peer, xfer, flags, request);
}

struct scene {
    struct rank *r;
    dcoll_team_t *team;
    unsigned char *send, *recv;
    size_t counts[RANKS], expected[RANKS];
    const char *algorithm; /* NULL: auto */
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
                                    .element = 1,
                                    .algorithm = s->algorithm};
    memset(s->recv, 0, (size_t)RANKS * PART);
    expect(s->r, 0, dcoll_alltoallv(s->team, &call));
    for (unsigned from = 0; from < RANKS; from++)
        for (size_t i = 0; i < s->expected[from]; i++)
            check(s->recv[from * PART + i] == content(from, s->r->rank, i));
}

/* The reads of a later call. */
static unsigned reads_of(struct scene *s)
{
    exchange(s);
    reads = looks = gets = 0;
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

/* Mapped, or copied by the kernel: by the access that SEND was allocated with,
 * and whether RECV was. */
static void by_memory(struct rank *r, unsigned access, bool recv_too,
                      unsigned wanted)
{
    enum { BYTES = RANKS * PART, GUARD = 4096 };
    struct scene s;
    drail_mem_t *send_mem, *recv_mem;
    void *send, *recv;
    unsigned char *plain = malloc(BYTES);
    check(plain != NULL);
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES + 2 * GUARD, access, &send, &send_mem));
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES + 2 * GUARD, DRAIL_ACCESS_LOCAL, &recv,
                           &recv_mem));
    /* peers may read all of it, and get a part of it */
    scene_open(&s, r, (unsigned char *)send + GUARD,
               recv_too ? (unsigned char *)recv + GUARD : plain);
    exchange(&s);
    registrations = 0;
    check(reads_of(&s) == wanted);
    check(registrations == 0);
    check(looks <= 2); /* for SEND and for RECV, however many parts there are */
    scene_close(&s);
    expect(r, 0, drail_mem_release(send_mem));
    expect(r, 0, drail_mem_release(recv_mem));
    free(plain);
}

static void mapped(struct rank *r)
{
    by_memory(r, DRAIL_ACCESS_REMOTE_READ, true, 0);
}

/* Shorter ones than by the kernel: it costs less. */
static void mapped_by_length(struct rank *r)
{
    struct scene s;
    drail_mem_t *mem;
    void *buffers;
    expect(r, 0,
           drail_mem_alloc(r->t, 2 * RANKS * PART, DRAIL_ACCESS_REMOTE_READ,
                           &buffers, &mem));
    scene_open(&s, r, buffers, (unsigned char *)buffers + RANKS * PART);
    lengths(&s, 8000, 8000);
    check(reads_of(&s) == 0 && gets == 0);
    lengths(&s, 20000, 20000);
    check(reads_of(&s) == 0 && gets == RANKS - 1);
    lengths(&s, 2000, 20000);
    check(reads_of(&s) == 0 && gets == 1);
    scene_close(&s);
    expect(r, 0, drail_mem_release(mem));
}

static void send_not_for_peers(struct rank *r)
{
    by_memory(r, DRAIL_ACCESS_LOCAL, true, RANKS - 1);
}

static void recv_not_allocated(struct rank *r)
{
    by_memory(r, DRAIL_ACCESS_REMOTE_READ, false, RANKS - 1);
}

/* Then all must know. */
static void over_a_rail(struct rank *r)
{
    struct scene s;
    drail_mem_t *mem;
    void *buffers;
    expect(r, 0,
           drail_mem_alloc(r->t, 2 * RANKS * PART, DRAIL_ACCESS_ALL, &buffers,
                           &mem));
    scene_open(&s, r, buffers, (unsigned char *)buffers + RANKS * PART);
    exchange(&s); /* connects: the provider has its own look */
    reads = 0;
    exchange(&s);
    check(reads == 0);
    scene_close(&s);
    expect(r, 0, drail_mem_release(mem));
}

static void one_may_not(struct rank *r)
{
    forbidden = r->rank == 1;
    over_a_rail(r);
}

/* The memory that the rank can read there is another process's. */
static void a_stranger(struct rank *r)
{
    elsewhere = r->rank == 1;
    over_a_rail(r);
}

/* Rails write these blocks at once to their places. */
static void written(struct rank *r)
{
    enum { BYTES = RANKS * PART, GUARD = 4096 };
    struct scene s;
    drail_mem_t *send_mem, *recv_mem;
    void *send, *recv;
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES + 2 * GUARD, DRAIL_ACCESS_LOCAL, &send,
                           &send_mem));
    expect(r, 0,
           drail_mem_alloc(r->t, BYTES + 2 * GUARD, DRAIL_ACCESS_REMOTE_WRITE,
                           &recv, &recv_mem));
    scene_open(&s, r, (unsigned char *)send + GUARD,
               (unsigned char *)recv + GUARD);
    s.algorithm = "direct";
    exchange(&s); /* makes what is kept */
    registrations = 0;
    exchange(&s);
    check(registrations == 0);
    scene_close(&s);
    expect(r, 0, drail_mem_release(send_mem));
    expect(r, 0, drail_mem_release(recv_mem));
}

static const struct test tests[] = {
    {"the kernel copies", RANKS, plain, NULL, APART},
    {"by length", RANKS, by_length, NULL, APART},
    {"mapped", RANKS, mapped, NULL, APART},
    {"mapped, by length", RANKS, mapped_by_length, NULL, APART},
    {"SEND is not for peers", RANKS, send_not_for_peers, NULL, APART},
    {"RECV is not allocated", RANKS, recv_not_allocated, NULL, APART},
    {"written directly", RANKS, written, NULL, APART},
    {"one rank may not read", RANKS, one_may_not, NULL, APART},
    {"one would read a stranger's", RANKS, a_stranger, NULL, APART},
};

RUN_TESTS(tests)
