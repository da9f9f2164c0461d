/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics whose answer gets lost with a member, or that are refused. */
#include "peer.h"

#include <netinet/in.h>
#include <stdatomic.h>

#include <dat2/dat_ib_extensions.h>

#include "tests/cable.h"

static cable_t cable;

/* -------------------------------------------------------- lost answers --- */

/* Of both processes: the next message of the peer over the first member, and
 * all that follow it there, get lost. */
static atomic_bool *loses;
static pid_t tester;

STAND_IN DAT_RETURN dat_ep_post_send(DAT_EP_HANDLE ep, DAT_COUNT n,
                                     DAT_LMR_TRIPLET *seg,
                                     DAT_DTO_COOKIE cookie_,
                                     DAT_COMPLETION_FLAGS flags)
{
    if (getpid() != tester && !strcmp(ia_of(ep), "shm0") &&
        atomic_exchange(loses, false))
        assert_int_equal(cable_mute(&cable, true), 0);
    return real(dat_ep_post_send)(ep, n, seg, cookie_, flags);
}

/* ---------------------------------------------------------------- tests --- */

static void open_with(peer_t *peer, end_t *me, int privileges)
{
    peer_open(peer, me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                (DAT_MEM_PRIV_FLAGS)privileges});
}

static void expect_add(end_t *me, DAT_DTO_COMPLETION_STATUS status)
{
    DAT_EVENT event = EXPECT_EVENT(me->request, DAT_IB_DTO_EVENT);
    assert_int_equal(event.event_data.dto_completion_event_data.status, status);
}

/* The answer gets lost. The atomic is not executed again. */
static void answer_lost(void **state)
{
    peer_t peer;
    end_t me;
    uint64_t before, after;
    open_with(&peer, &me,
              (int)DAT_MEM_PRIV_ALL_FLAG | (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
    atomic_store(loses, true);
    end_post_add(&me, &peer.end.mem, 0);
    expect_add(&me, DAT_DTO_SUCCESS);
    memcpy(&before, me.mem.data, sizeof before);
    end_post_add(&me, &peer.end.mem, 0);
    expect_add(&me, DAT_DTO_SUCCESS);
    memcpy(&after, me.mem.data, sizeof after);
    assert_int_equal(after, before + 1);
    assert_int_equal(cable_mute(&cable, false), 0);
    peer_close(&peer, &me);
}

/* The member that carries the refusal fails. */
static void refusal_lost(void **state)
{
    peer_t peer;
    end_t me;
    open_with(&peer, &me, DAT_MEM_PRIV_ALL_FLAG);
    atomic_store(loses, true);
    end_post_add(&me, &peer.end.mem, 0);
    expect_add(&me, DAT_DTO_ERR_REMOTE_ACCESS);
    assert_int_equal(cable_mute(&cable, false), 0);
    peer_close(&peer, &me);
}

/* A message behind a refused atomic does not arrive. */
static void nothing_behind(void **state)
{
    peer_t peer;
    end_t me;
    DAT_LMR_TRIPLET seg;
    open_with(&peer, &me, DAT_MEM_PRIV_ALL_FLAG);
    seg = local(&me.mem, 0, 8);
    peer_post_recv(&peer, 0, 8, 2);
    end_post_add(&me, &peer.end.mem, 0);
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(3),
                            DAT_COMPLETION_DEFAULT_FLAG));
    expect_add(&me, DAT_DTO_ERR_REMOTE_ACCESS);
    EXPECT_DTO(me.request, 3, DAT_DTO_ERR_FLUSHED, 0);
    peer_expect_dto(&peer, EVD_RECV, 2, DAT_DTO_ERR_FLUSHED, 0);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answer_lost),
        cmocka_unit_test(refusal_lost),
        cmocka_unit_test(nothing_behind),
    };
    setenv("TEST_IA", "bond0", 1);
    tester = getpid();
    loses = shared_memory(sizeof *loses);
    const char *folder = cables_folder();
    if (!folder || cable_grasp(&cable, folder, "shm0"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
