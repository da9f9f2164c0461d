/* SPDX-License-Identifier: BSD-3-Clause */
/* The error of a connection that is not complete in time names the missing step
 * of the handshake, by rail. */
#include "hello_said.h"

/* Requests over these rails, of this rank, are lost, or go where nobody
 * listens. */
static uint32_t lost, nobody;

static bool change_hello(DAT_EP_HANDLE ep, struct link_hello *hello,
                         DAT_CONN_QUAL *qual)
{
    if (!hello->kind && nobody & 1u << hello->rail)
        *qual = 1;
    return hello->kind || !(lost & 1u << hello->rail);
}

static void says(const struct rank *r, const char *text, bool does)
{
    bool is_there = strstr(drail_last_error(r->t), text) != NULL;
    if (is_there != does)
        printf("# rank %u: \"%s\": \"%s\"\n", r->rank, drail_last_error(r->t),
               text);
    check(is_there == does);
}

static void alone(struct rank *r, unsigned caller, const char *text)
{
    if (r->rank == caller) {
        expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, r->peer));
        says(r, text, true);
    }
    barrier_outside(r);
}

static void nobody_answers(struct rank *r)
{
    alone(r, 0, "asked, no answer over shm0, shm1");
    alone(r, 1, "; no request over shm0, shm1"); /* solicitations come first */
}

/* Both are there; over one rail nobody listens, and one is silent. */
static void one_rail_is_silent(struct rank *r)
{
    if (r->rank == 0)
        nobody = 1u << 0, lost = 1u << 1;
    expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, r->peer));
    if (r->rank == 0)
        says(r, "nobody listens", true);
    says(r,
         r->rank == 0 ? " over shm0; asked, no answer over shm1"
                      : "no request over shm0, shm1",
         true);
    nobody = lost = 0;
    barrier(r);
}

static void impatient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 500;
}

static const struct test tests[] = {
    {"nobody answers", 2, nobody_answers, impatient, APART},
    {"one rail is silent", 2, one_rail_is_silent, impatient, APART},
};

RUN_TESTS(tests)
