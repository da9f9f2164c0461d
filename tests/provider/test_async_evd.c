/* SPDX-License-Identifier: BSD-3-Clause */
/* Asynchronous events of an IA may go to the EVD of another IA, which may be
 * closed abruptly before it. */
#include "util.h"

#include <pthread.h>
#include <stdatomic.h>

#define ROUNDS 100

/* An IA with a shared receive queue, by which it has something to tell. */
typedef struct teller {
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async;
    DAT_PZ_HANDLE pz;
    DAT_SRQ_HANDLE srq;
} teller_t;

static void teller_open(teller_t *t, DAT_EVD_HANDLE async)
{
    DAT_SRQ_ATTR attr = {.max_recv_dtos = 8};
    t->async = async;
    DAT_OK(dat_ia_open((DAT_NAME_PTR)IA_NAME, 8, &t->async, &t->ia));
    DAT_OK(dat_pz_create(t->ia, &t->pz));
    DAT_OK(dat_srq_create(t->ia, t->pz, &attr, &t->srq));
}

static void teller_close(teller_t *t)
{
    DAT_OK(dat_srq_free(t->srq));
    DAT_OK(dat_pz_free(t->pz));
    DAT_OK(dat_ia_close(t->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* There are fewer receives than the mark: an asynchronous event. */
static void tell(const teller_t *t)
{
    DAT_OK(dat_srq_set_lw(t->srq, 1));
}

static DAT_EVD_HANDLE async_of(const teller_t *t)
{
    DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
    DAT_OK(dat_ia_query(t->ia, &async, 0, NULL, 0, NULL));
    return async;
}

static void another_ia_tells(void **state)
{
    teller_t owner, user;
    teller_open(&owner, DAT_HANDLE_NULL);
    teller_open(&user, owner.async);
    assert_ptr_equal(async_of(&user), owner.async);
    tell(&user);
    DAT_EVENT e =
        EXPECT_EVENT(owner.async, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR);
    assert_ptr_equal(e.event_data.asynch_error_event_data.dat_handle, user.srq);
    DAT_FAILS(dat_ia_close(owner.ia, DAT_CLOSE_GRACEFUL_FLAG),
              DAT_INVALID_STATE);
    teller_close(&user);
    teller_close(&owner);
}

static void the_owner_is_closed_first(void **state)
{
    teller_t owner, user, later;
    teller_open(&owner, DAT_HANDLE_NULL);
    teller_open(&user, owner.async);
    DAT_OK(dat_ia_close(owner.ia, DAT_CLOSE_ABRUPT_FLAG));
    tell(&user);
    assert_ptr_equal(async_of(&user), DAT_EVD_OUT_OF_SCOPE);
    /* whose EVD lies where the other one was */
    teller_open(&later, DAT_HANDLE_NULL);
    tell(&user);
    expect_silence(later.async, 0);
    teller_close(&user);
    teller_close(&later);
}

/* The same with an EVD that the consumer has made. */
static void an_evd_of_the_consumer(void **state)
{
    teller_t owner, user;
    DAT_EVD_HANDLE evd;
    teller_open(&owner, DAT_HANDLE_NULL);
    DAT_OK(
        dat_evd_create(owner.ia, 8, DAT_HANDLE_NULL, DAT_EVD_ASYNC_FLAG, &evd));
    teller_open(&user, evd);
    tell(&user);
    EXPECT_EVENT(evd, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR);
    DAT_FAILS(dat_evd_free(evd), DAT_INVALID_STATE);
    DAT_OK(dat_ia_close(owner.ia, DAT_CLOSE_ABRUPT_FLAG));
    tell(&user);
    teller_close(&user);
}

/* It is needed as long as the IA is open. */
static void an_evd_in_use_is_not_freed(void **state)
{
    teller_t t;
    teller_open(&t, DAT_HANDLE_NULL);
    DAT_FAILS(dat_evd_free(t.async), DAT_INVALID_STATE);
    tell(&t);
    EXPECT_EVENT(t.async, DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR);
    teller_close(&t);
}

/* More than it holds: what finds no room is lost, and nothing else. */
static void a_full_evd(void **state)
{
    teller_t owner, user;
    DAT_EVENT e;
    teller_open(&owner, DAT_HANDLE_NULL);
    teller_open(&user, owner.async);
    for (int i = 0; i < 100; i++)
        tell(i % 2 ? &owner : &user);
    int got = 0;
    while (dat_evd_dequeue(owner.async, &e) == DAT_SUCCESS)
        got++;
    assert_true(got >= 8 && got < 100);
    teller_close(&user);
    teller_close(&owner);
}

struct telling {
    const teller_t *teller;
    atomic_bool begun, stop;
};

static void *keep_telling(void *arg)
{
    struct telling *t = arg;
    while (!atomic_load(&t->stop)) {
        dat_srq_set_lw(t->teller->srq, 1);
        atomic_store(&t->begun, true);
    }
    return NULL;
}

static void the_owner_is_closed_meanwhile(void **state)
{
    for (int i = 0; i < ROUNDS; i++) {
        teller_t owner, user;
        pthread_t thread;
        struct telling telling = {.teller = &user};
        teller_open(&owner, DAT_HANDLE_NULL);
        teller_open(&user, owner.async);
        assert_int_equal(pthread_create(&thread, NULL, keep_telling, &telling),
                         0);
        while (!atomic_load(&telling.begun))
            poll_pause();
        DAT_OK(dat_ia_close(owner.ia, DAT_CLOSE_ABRUPT_FLAG));
        atomic_store(&telling.stop, true);
        pthread_join(thread, NULL);
        teller_close(&user);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_ia_tells),
        cmocka_unit_test(a_full_evd),
        cmocka_unit_test(an_evd_in_use_is_not_freed),
        cmocka_unit_test(the_owner_is_closed_first),
        cmocka_unit_test(an_evd_of_the_consumer),
        cmocka_unit_test(the_owner_is_closed_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
