/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * drail_last_error and drail_job_last_error tell of the call that failed, and
 * never of an earlier one: each DRAIL_EINVAL has a sentence of its own.
 */
#include "ranks.h"
#include "tests/stand_in.h"

#define BYTES (1u << 20) /* more than is sent eagerly */
#define BRIEF 50         /* milliseconds */

static bool no_lmr;

STAND_IN DAT_RETURN dat_lmr_create(DAT_IA_HANDLE ia, DAT_MEM_TYPE type,
                                   DAT_REGION_DESCRIPTION region,
                                   DAT_VLEN length, DAT_PZ_HANDLE pz,
                                   DAT_MEM_PRIV_FLAGS priv, DAT_VA_TYPE va,
                                   DAT_LMR_HANDLE *lmr, DAT_LMR_CONTEXT *local,
                                   DAT_RMR_CONTEXT *remote, DAT_VLEN *bytes,
                                   DAT_VADDR *address)
{
    if (no_lmr)
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES;
    return real(dat_lmr_create)(ia, type, region, length, pz, priv, va, lmr,
                                local, remote, bytes, address);
}

static void has(const char *text, const char *word)
{
    if (!strstr(text, word))
        printf("# '%s' lacks '%s'\n", text, word);
    check(strstr(text, word) != NULL);
}

/* A sentence of an error that does no harm. */
static void wrong_argument(struct rank *r)
{
    void *at;
    drail_mem_t *mem;
    expect(r, DRAIL_EINVAL, drail_mem_alloc(r->t, 0, 0, &at, &mem));
    has(drail_last_error(r->t), "drail_mem_alloc");
}

static void arguments(struct rank *r)
{
    wrong_argument(r);
    expect(r, DRAIL_EINVAL, drail_wait(r->t, NULL, -1));
    has(drail_last_error(r->t), "drail_wait");
    expect(r, DRAIL_EINVAL, drail_notify_any(r->t, 0, NULL));
    has(drail_last_error(r->t), "drail_notify_any");
}

/* Rank 1 can't register its buffer: rank 0 gets its code. */
static void of_the_peer(struct rank *r)
{
    size_t got;
    unsigned char *buffer = calloc(1, BYTES);
    wrong_argument(r);
    no_lmr = r->rank == 1;
    if (r->rank == 0)
        expect(r, DRAIL_ENOMEM, drail_send(r->t, 1, buffer, BYTES, NULL));
    else
        expect(r, DRAIL_ENOMEM, drail_recv(r->t, 0, buffer, BYTES, &got, -1));
    if (r->rank == 0)
        has(drail_last_error(r->t), "drail_send(rank 1): out of memory");
    no_lmr = false;
    free(buffer);
}

static void of_the_job(struct rank *r)
{
    unsigned char all[2 * 16] = {0};
    drail_gathered_t *g;
    expect(r, DRAIL_EINVAL, drail_job_allgather(r->job, NULL, 8, all, -1));
    has(drail_job_last_error(r->job), "NULL");
    expect(r, DRAIL_EINVAL,
           drail_job_allgather(r->job, all, 1u << 30, all, -1));
    has(drail_job_last_error(r->job), "1073741824 bytes");
    expect(r, DRAIL_EINVAL, drail_gathered_new(r->job, 0, &g));
    has(drail_job_last_error(r->job), "drail_gathered_new");
    expect(r, DRAIL_EINVAL,
           drail_job_allgather(r->job, &r->rank, r->rank ? 8 : 16, all, -1));
    has(drail_job_last_error(r->job), "differ in length");
    if (r->rank)
        nap(4 * BRIEF);
    else
        expect(r, DRAIL_ETIMEOUT, drail_job_barrier(r->job, BRIEF));
    if (r->rank == 0)
        check(!strstr(drail_job_last_error(r->job), "differ"));
    drail_close(r->t);
    _exit(0); /* without the barrier at the end */
}

static const struct test tests[] = {
    {"wrong arguments", 2, arguments, NULL, 0},
    {"an error that the peer has told", 2, of_the_peer, NULL, 0},
    {"of the job", 2, of_the_job, NULL, 0},
};

RUN_TESTS(tests)
