/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomics on a rank's own memory, over a rail whose adapter does atomics: they
 * go over a connection of the rail to itself. Stands in for the provider at its
 * own calls: it does not say that its atomics are the processor's, and fails.
 */
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define N          500u
#define CONNECT_MS 300

static unsigned connects;  /* of this process */
static bool no_connect;    /* fails */
static bool no_answer;     /* requests are not accepted */
static bool ends_in_error; /* the next atomic on own memory */

STAND_IN DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *evd,
                                 DAT_IA_ATTR_MASK mask, DAT_IA_ATTR *attr,
                                 DAT_PROVIDER_ATTR_MASK provider_mask,
                                 DAT_PROVIDER_ATTR *provider)
{
    static DAT_NAMED_ATTR named[64];
    DAT_RETURN status =
        real(dat_ia_query)(ia, evd, mask, attr, provider_mask, provider);
    if (status != DAT_SUCCESS || !provider)
        return status;
    check(provider->num_provider_specific_attr <= 64);
    for (DAT_COUNT i = 0; i < provider->num_provider_specific_attr; i++) {
        named[i] = provider->provider_specific_attr[i];
        if (!strcmp(named[i].name, "atomics"))
            named[i].value = "adapter";
    }
    provider->provider_specific_attr = named;
    return status;
}

STAND_IN DAT_RETURN dat_ep_connect(DAT_EP_HANDLE ep, DAT_IA_ADDRESS_PTR address,
                                   DAT_CONN_QUAL qual, DAT_TIMEOUT timeout,
                                   DAT_COUNT bytes, const DAT_PVOID data,
                                   DAT_QOS qos, DAT_CONNECT_FLAGS flags)
{
    connects++;
    return no_connect ? (DAT_RETURN)DAT_CLASS_ERROR | DAT_INTERNAL_ERROR
                      : real(dat_ep_connect)(ep, address, qual, timeout, bytes,
                                             data, qos, flags);
}

STAND_IN DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
                                  DAT_COUNT bytes, const DAT_PVOID data)
{
    return no_answer ? DAT_SUCCESS : real(dat_cr_accept)(cr, ep, bytes, data);
}

/* Events with the cookie 0 are those of atomics on own memory. */
STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    DAT_RETURN status =
        real(dat_evd_wait)(evd, timeout, threshold, event, more);
    DAT_DTO_COMPLETION_EVENT_DATA *dto =
        &event->event_data.dto_completion_event_data;
    if (status == DAT_SUCCESS && !dto->user_cookie.as_64 && ends_in_error) {
        ends_in_error = false;
        dto->status = DAT_DTO_ERR_FLUSHED;
    }
    return status;
}

static uint64_t *words(struct rank *r, drail_mem_t **mem, drail_key_t *keys)
{
    uint64_t *memory;
    expect(r, 0,
           drail_mem_alloc(r->t, 64, DRAIL_ACCESS_ALL, (void **)&memory, mem));
    exchange_keys(r, *mem, keys);
    return memory;
}

static int add(struct rank *r, unsigned to, const drail_key_t *key,
               uint64_t *old)
{
    return drail_atomic(r->t, to, DRAIL_FETCH_ADD, key, 0, 1, 0, old);
}

/* All add to rank 0's word, and so does rank 0. */
static void beside_others(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[4];
    uint64_t old, *memory = words(r, &mem, keys);
    unsigned before = connects;
    barrier(r);
    for (unsigned i = 0; i < N; i++)
        expect(r, 0, add(r, 0, &keys[0], &old));
    barrier(r);
    if (r->rank == 0) {
        check(connects == before + 1);
        check(memory[0] == N * r->size);
        expect(r, 0,
               drail_atomic(r->t, 0, DRAIL_CMP_SWAP, &keys[0], 0, 7, 1, &old));
        check(old == N * r->size && memory[0] == old);
        expect(
            r, 0,
            drail_atomic(r->t, 0, DRAIL_CMP_SWAP, &keys[0], 0, 7, old, NULL));
        check(memory[0] == 7);
        keys[0].rmr_context[0] ^= 1;
        expect(r, DRAIL_EACCESS, add(r, 0, &keys[0], NULL));
        check(memory[0] == 7);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

/* A failed atomic leaves nothing behind: the next one connects anew. */
static void failures(struct rank *r)
{
    drail_mem_t *mem;
    drail_key_t keys[2];
    uint64_t *memory = words(r, &mem, keys);
    const drail_key_t *mine = &keys[r->rank];
    no_connect = true;
    expect(r, DRAIL_EDAT, add(r, r->rank, mine, NULL));
    no_connect = false;
    no_answer = true;
    expect(r, DRAIL_ETIMEOUT, add(r, r->rank, mine, NULL));
    check(strstr(drail_last_error(r->t), "this rank's memory"));
    no_answer = false;
    check(memory[0] == 0);
    expect(r, 0, add(r, r->rank, mine, NULL));
    ends_in_error = true;
    expect(r, DRAIL_EPEER, add(r, r->rank, mine, NULL));
    check(!ends_in_error);
    unsigned before = connects;
    expect(r, 0, add(r, r->rank, mine, NULL));
    check(connects == before + 1);
    check(memory[0] == 3); /* the one that failed had been carried out */
    barrier(r);
    expect(r, 0, drail_mem_release(mem));
}

static void impatient(drail_config_t *cfg)
{
    take_rails(cfg, 2);
    cfg->connect_timeout_ms = CONNECT_MS;
}

static const struct test tests[] = {
    {"beside the others", 4, beside_others, NULL, 0},
    {"over one rail", 2, beside_others, one_rail, 0},
    {"failures", 2, failures, impatient, APART},
};

RUN_TESTS(tests)
