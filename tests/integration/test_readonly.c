/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks send from memory that they may only read. Providers in the same host
 * copy from it whatever it is registered for. An adapter pins it, and refuses
 * local write access to it. So does this program's dat_lmr_create; it passes on
 * all other calls.
 */
#include <inttypes.h>

#include "coll/dcoll.h"

#include "ranks.h"
#include "tests/stand_in.h"
#include "tests/unit/collectives.h"

#define MOST 40000 /* bytes of the largest block: long enough for zero copy */

static bool writable(uintptr_t begin, size_t bytes)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512], perms[5];
    uintptr_t start, end;
    bool ok = true;
    check(maps != NULL);
    while (fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &start, &end,
                   perms) == 3 &&
            begin < end && start < begin + bytes)
            ok = ok && perms[1] == 'w';
    fclose(maps);
    return ok;
}

STAND_IN DAT_RETURN dat_lmr_create(
    DAT_IA_HANDLE ia, DAT_MEM_TYPE type, DAT_REGION_DESCRIPTION region,
    DAT_VLEN length, DAT_PZ_HANDLE pz, DAT_MEM_PRIV_FLAGS priv,
    DAT_VA_TYPE va_type, DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *lmr_context,
    DAT_RMR_CONTEXT *rmr_context, DAT_VLEN *size, DAT_VADDR *address)
{
    if (priv & DAT_MEM_PRIV_LOCAL_WRITE_FLAG &&
        !writable((uintptr_t)region.for_va, length))
        return DAT_CLASS_ERROR | DAT_PRIVILEGES_VIOLATION;
    return real(dat_lmr_create)(ia, type, region, length, pz, priv, va_type,
                                lmr, lmr_context, rmr_context, size, address);
}

static unsigned char *constant(unsigned rank, size_t bytes)
{
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(p != MAP_FAILED);
    memset(p, (int)rank + 1, bytes);
    check(mprotect(p, bytes, PROT_READ) == 0);
    return p;
}

static void run(struct rank *r, dcoll_team_t *team, const dcoll_call_t *call)
{
    int rc = dcoll_run(team, call);
    if (rc)
        printf("# rank %u: %s: %s\n", r->rank, call->algorithm,
               dcoll_last_error(team));
    check(rc == 0);
}

static void got_combined(const struct rank *r, const dcoll_call_t *c)
{
    const unsigned char *at = c->recv;
    const unsigned count = operands_of(c->collective, r->rank, r->size);
    unsigned char value = count > 0;
    for (unsigned from = 1; from < count; from++)
        value = combined(c->reduction, value, (unsigned char)(from + 1));
    for (size_t i = 0; i < c->bytes; i++)
        check(at[i] == value);
}

/* Checks the received blocks of all ranks, or of the root. */
static void got(const struct rank *r, const dcoll_call_t *c)
{
    const unsigned char *at = c->recv;
    bool all = c->collective != DCOLL_BCAST && c->collective != DCOLL_SCATTER;
    bool roots = c->collective == DCOLL_GATHER || c->collective == DCOLL_REDUCE;
    if (roots && r->rank != c->root)
        return;
    if (c->reduction) {
        got_combined(r, c);
        return;
    }
    for (unsigned from = 0; from < (all ? r->size : 1); from++)
        for (size_t i = 0; i < c->bytes; i++)
            check(at[from * c->bytes + i] == (all ? from : c->root) + 1);
}

static void collectives(struct rank *r)
{
    dcoll_team_t *team;
    const size_t sizes[] = {8, MOST};
    const size_t bytes = (size_t)r->size * MOST;
    unsigned char *send = constant(r->rank, bytes), *recv = malloc(bytes);
    check(recv != NULL);
    expect(r, 0, dcoll_team_create(r->job, r->t, NULL, &team, NULL));
    const dcoll_shape_t *shape = dcoll_team_shape(team);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned i = 0; i < 2; i++) {
            const unsigned root = r->size - 1;
            dcoll_call_t c = {.collective = (*a)->collective,
                              .send = send,
                              .recv = recv,
                              .bytes = sizes[i],
                              .root = root,
                              .algorithm = (*a)->name,
                              .reduction = reduction_for(*a, shape)};
            dcoll_args_t args = {
                .collective = c.collective, .commutes = true, .depth = 2};
            if (c.collective == DCOLL_BARRIER ||
                dcoll_refusal(*a, shape, &args))
                continue;
            /* a broadcast's buffer is what its root sends */
            if (c.collective == DCOLL_BCAST && r->rank == root)
                c.recv = send;
            memset(recv, 0, bytes);
            run(r, team, &c);
            got(r, &c);
        }
    barrier(r);
    dcoll_team_free(team);
    munmap(send, bytes);
    free(recv);
}

/* As a source only: the transport itself. */
static void messages(struct rank *r)
{
    const size_t bytes = 1 << 20;
    unsigned char *send = constant(r->rank, bytes), *recv;
    drail_mem_t *from, *to;
    drail_key_t keys[2];
    drail_req_t req;
    size_t received;
    expect(r, 0,
           drail_mem_alloc(r->t, bytes, DRAIL_ACCESS_REMOTE_WRITE,
                           (void **)&recv, &to));
    exchange_keys(r, to, keys);
    expect(
        r, 0,
        drail_mem_register(r->t, send, bytes, DRAIL_ACCESS_READ_ONLY, &from));
    drail_xfer_t xfer = {send, from, &keys[r->peer], 0, bytes};
    expect(r, 0, drail_put(r->t, r->peer, &xfer, DRAIL_NOTIFY, 1, &req));
    expect(r, 0, drail_wait(r->t, &req, -1));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    check(recv[0] == r->peer + 1 && recv[bytes - 1] == r->peer + 1);
    expect(r, 0, drail_mem_release(from));
    memset(recv, 0, bytes);
    barrier(r);
    if (r->rank == 0)
        expect(r, 0, drail_send(r->t, 1, send, bytes, NULL));
    else
        expect(r, 0, drail_recv(r->t, 0, recv, bytes, &received, -1));
    check(r->rank == 0 || recv[bytes - 1] == 1);
    barrier(r);
    expect(r, 0, drail_mem_release(to));
    munmap(send, bytes);
}

/* A read-only registration serves no writer, and cannot be granted for
 * writing. */
static void granted(struct rank *r)
{
    static unsigned char memory[4096];
    const unsigned wrong = DRAIL_ACCESS_READ_ONLY | DRAIL_ACCESS_REMOTE_WRITE;
    drail_mem_t *reads, *writes, *again;
    drail_cache_stats_t before, after;
    void *address;
    expect(r, DRAIL_EINVAL,
           drail_mem_register(r->t, memory, sizeof memory, wrong, &reads));
    expect(r, DRAIL_EINVAL,
           drail_mem_alloc(r->t, sizeof memory, DRAIL_ACCESS_READ_ONLY,
                           &address, &reads));
    expect(r, 0,
           drail_mem_register(r->t, memory, sizeof memory,
                              DRAIL_ACCESS_READ_ONLY, &reads));
    drail_cache_stats(r->t, &before);
    expect(r, 0,
           drail_mem_register(r->t, memory, sizeof memory, DRAIL_ACCESS_LOCAL,
                              &writes));
    drail_cache_stats(r->t, &after);
    check(after.misses == before.misses + 1);
    expect(r, 0, drail_mem_release(reads));
    expect(r, 0,
           drail_mem_register(r->t, memory, sizeof memory,
                              DRAIL_ACCESS_READ_ONLY, &again));
    drail_cache_stats(r->t, &before);
    check(before.misses == after.misses);
    expect(r, 0, drail_mem_release(again));
    expect(r, 0, drail_mem_release(writes));
}

static const struct test tests[] = {
    {"collectives", 4, collectives, NULL, APART},
    {"collectives on two nodes", 4, collectives, NULL, APART | PPN(2)},
    {"collectives on four nodes", 4, collectives, NULL, APART | PPN(1)},
    {"put and send", 2, messages, NULL, 0},
    {"grants", 1, granted, NULL, 0},
};

RUN_TESTS(tests)
