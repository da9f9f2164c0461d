/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics that the bond of the target refuses. */
#include "peer.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <stdatomic.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_registry.h> /* DAT_PROVIDER */

#include "tests/cable.h"

#define SOON_US 1000000 /* a silent member is lost ten times sooner */

static const char *folder;
static cable_t cable;

/* -------------------------------------------------------- lost answers --- */

/* Of both processes: the next message of the peer over the first member, and
 * all that follow it there, get lost. */
static atomic_bool *loses;

static bool is_first_member(DAT_EP_HANDLE ep)
{
    const DAT_PROVIDER *provider = *(const DAT_PROVIDER *const *)ep;
    return !strcmp(provider->device_name, "shm0");
}

static pid_t tester;

INSTEAD_OF_LIBC DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                            DAT_LMR_TRIPLET *seg,
                                            DAT_DTO_COOKIE cookie_,
                                            DAT_COMPLETION_FLAGS flags)
{
    __typeof__(&dat_ep_post_send) real =
        (__typeof__(real))dlsym(RTLD_NEXT, "dat_ep_post_send");
    if (getpid() != tester && is_first_member(ep) &&
        atomic_exchange(loses, false))
        assert_int_equal(cable_mute(&cable, true), 0);
    return real(ep, n, seg, cookie_, flags);
}

/* ---------------------------------------------------------------- tests --- */

/* The peer's memory is not for atomics. */
static void open_refusing(peer_t *peer, end_t *me)
{
    peer_open(peer, me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                DAT_MEM_PRIV_ALL_FLAG});
}

static void post_add(end_t *me, const peer_t *peer)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer->end.mem, 0, 8);
    DAT_OK(dat_ib_post_fetch_and_add(me->ep, 1, &seg, cookie(1), &to,
                                     DAT_COMPLETION_DEFAULT_FLAG));
}

static void expect_refused(end_t *me)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(me->request, SOON_US, 1, &event, &more));
    assert_int_equal(event.event_number, DAT_IB_DTO_EVENT);
    assert_int_equal(event.event_data.dto_completion_event_data.status,
                     DAT_DTO_ERR_REMOTE_ACCESS);
}

/* The member that carries the refusal fails. */
static void refusal_lost(void **state)
{
    peer_t peer;
    end_t me;
    open_refusing(&peer, &me);
    atomic_store(loses, true);
    post_add(&me, &peer);
    expect_refused(&me);
    assert_false(atomic_load(loses));
    assert_int_equal(cable_mute(&cable, false), 0);
    peer_close(&peer, &me);
}

/* A message behind a refused atomic does not arrive. */
static void nothing_behind(void **state)
{
    peer_t peer;
    end_t me;
    DAT_LMR_TRIPLET seg;
    open_refusing(&peer, &me);
    seg = local(&me.mem, 0, 8);
    peer_post_recv(&peer, 0, 8, 2);
    post_add(&me, &peer);
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(3),
                            DAT_COMPLETION_DEFAULT_FLAG));
    expect_refused(&me);
    EXPECT_DTO(me.request, 3, DAT_DTO_ERR_FLUSHED, 0);
    peer_expect_dto(&peer, EVD_RECV, 2, DAT_DTO_ERR_FLUSHED, 0);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_behind),
        cmocka_unit_test(refusal_lost),
    };
    setenv("TEST_IA", "bond0", 1);
    tester = getpid();
    loses = shared_memory(sizeof *loses);
    folder = cables_folder();
    if (!folder || cable_grasp(&cable, folder, "shm0"))
        return 1;
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    cable_drop(&cable, folder, "shm0");
    rmdir(folder);
    return failures;
}
