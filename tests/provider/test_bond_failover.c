/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of a bond fail, silently or not, and come back. */
#include "bond.h"

#include <netinet/in.h>
#include <stdatomic.h>

#include <dat2/dat_ib_extensions.h>

#include "member_frees.h"
#include "member_posts.h"
#include "tests/cable.h"

#define ADDS       100u
#define ADDS_AHEAD 8u
#define UNRECEIVED 20 /* messages */
#define FLAPS      10
#define SOON_US    1000000 /* a silent member is lost ten times sooner */

static cable_t cable[2];

/* ------------------------------------------------ attributes of members --- */

static bool hides_counts;

STAND_IN DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async,
                                 DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *attr,
                                 DAT_PROVIDER_ATTR_MASK provider_mask,
                                 DAT_PROVIDER_ATTR *provider)
{
    DAT_RETURN ret =
        real(dat_ia_query)(ia, async, ia_mask, attr, provider_mask, provider);
    if (hides_counts && provider && ret == DAT_SUCCESS)
        provider->num_provider_specific_attr = 0;
    return ret;
}

/* Members refuse to free this LMR; then they have freed it. */
static _Atomic(DAT_LMR_HANDLE) refused;
static atomic_uint refusals; /* to come */
static atomic_bool freed;

static bool may_free(DAT_LMR_HANDLE lmr)
{
    if (refusals && (!refused || lmr == refused)) {
        refused = lmr;
        refusals--;
        return false;
    }
    if (lmr == refused)
        atomic_store(&freed, true);
    return true;
}

/* PZs of members that were freed too early. */
static atomic_uint busy_pzs;

STAND_IN DAT_RETURN dat_pz_free(DAT_PZ_HANDLE pz)
{
    DAT_RETURN ret = real(dat_pz_free)(pz);
    if (ret != DAT_SUCCESS)
        atomic_fetch_add(&busy_pzs, 1);
    return ret;
}

static void both_open(peer_t *peer, end_t *me)
{
    peer_open(peer, me,
              &(peer_options_t){PEER_PROCESS, MEMORY_MEMFD, 4096,
                                DAT_MEM_PRIV_ALL_FLAG});
}

/* Both ends learn that the connection is broken, this one within so many µs. */
static void both_break(peer_t *peer, const end_t *me, DAT_TIMEOUT us)
{
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(me->conn, us, 1, &event, &more));
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
    peer_expect_event(peer, EVD_CONN, DAT_CONNECTION_EVENT_BROKEN);
}

/* --------------------------------------------------------- disturbances --- */

/* On a busy machine, a connection is established before all members have
 * joined. */
static void await_join(void)
{
    pause_ms(200);
}

/* Disturbs the first member, then the second, and so on. Each member is back
 * before the other one fails. */
static void fail_in_turn(unsigned round, bool silently)
{
    cable_t *c = &cable[round / 100 % 2];
    if (!round)
        await_join();
    if (round % 100 == 40)
        assert_int_equal(silently ? cable_mute(c, true) : cable_pull(c), 0);
    if (round % 100 == 60)
        assert_int_equal(silently ? cable_mute(c, false) : cable_plug(c), 0);
    if (round % 100 == 99)
        pause_ms(300);
}

static void pull_in_turn(unsigned round)
{
    fail_in_turn(round, false);
}

static void mute_in_turn(unsigned round)
{
    fail_in_turn(round, true);
}

static void pull_first(void)
{
    assert_int_equal(cable_pull(&cable[0]), 0);
}

static void pull_second(void)
{
    assert_int_equal(cable_pull(&cable[1]), 0);
}

/* The lead fails when a write has arrived, before the bond learns that it has.
 */
static void lose_in_turn(unsigned round)
{
    unsigned member = round / 100 % 2;
    if (!round)
        await_join();
    if (round % 100 == 42) /* of 8 bytes */
        posts_lose(member ? pull_second : pull_first);
    if (round % 100 == 60)
        assert_int_equal(cable_plug(&cable[member]), 0);
    if (round % 100 == 99)
        pause_ms(300);
}

static void pull_all(void)
{
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(cable_pull(&cable[i]), 0);
}

static void plug_all(void)
{
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(cable_plug(&cable[i]), 0);
}

/* All members fail at the same time, and return so many ms later. */
static void fail_for(unsigned round, long ms)
{
    if (!round)
        await_join();
    if (round % 20 != 10)
        return;
    pull_all();
    pause_ms(ms);
    plug_all();
}

static void fail_all(unsigned round)
{
    fail_for(round, round % 3 * 20);
}

/* The bond waits for a second. */
static void fail_long(unsigned round)
{
    fail_for(round, 500 + round % 3 * 170);
}

/* Members fail faster than they return. */
static void fail_fast(unsigned round)
{
    if (!round)
        await_join();
    for (unsigned i = 0; round % 10 == 5 && i < 2 * FLAPS; i++) {
        assert_int_equal(cable_pull(&cable[i % 2]), 0);
        assert_int_equal(cable_plug(&cable[i % 2]), 0);
        pause_ms((i * 7 + round) % 12);
    }
}

static void arrived_unknown(void **state)
{
    bond_stream("bond0", 200, lose_in_turn);
}

/* --------------------------------------------- a write that has arrived --- */

/* Memory of both processes: what they tell each other without DAT. */
static struct answer {
    _Atomic DAT_CONN_QUAL qual; /* of the peer, when it listens */
    DAT_RMR_TRIPLET target;
    _Atomic uint64_t taken; /* 1: the peer has cleared the first word */
} * answer;
static _Atomic uint64_t *source;

static void await_word(const _Atomic uint64_t *word, uint64_t value)
{
    for (unsigned i = 0; atomic_load(word) != value; i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
}

static void take_words(void *arg)
{
    end_t end;
    end_open_memory(&end, MEMORY_MEMFD, 4096, DAT_MEM_PRIV_ALL_FLAG);
    _Atomic uint64_t *word = (void *)end.mem.data;
    memset(end.mem.data, 0, 4096);
    answer->target = remote(&end.mem, 0, 16);
    atomic_store(&answer->qual, end.qual);
    end_accept(&end);
    await_word(&word[0], 1);
    atomic_store(&word[0], 0);
    atomic_store(&answer->taken, 1);
    await_word(&word[1], 1);
    assert_int_equal(word[0], 0); /* the first write was not repeated */
    EXPECT_EVENT(end.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    end_close(&end);
}

/* The peer has answered: so the source may be used again. */
static void reuse_source(void)
{
    await_word(&answer->taken, 1);
    atomic_store(source, 2);
    pull_first();
}

static void write_word(end_t *me, unsigned place, DAT_COMPLETION_FLAGS flags)
{
    DAT_LMR_TRIPLET seg = local(&me->mem, 8 * place, 8);
    DAT_RMR_TRIPLET to = answer->target;
    to.virtual_address += 8 * place;
    to.segment_length = 8;
    atomic_store(&source[place], 1);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &seg, cookie(place), &to, flags));
}

/* A suppressed write has arrived when the lead is lost. It is not done again,
 * neither with the bytes that its source has now nor with those of before. */
static void arrived_once(void **state)
{
    end_t me;
    answer = shared_memory(sizeof *answer);
    pid_t peer = spawn(take_words, NULL);
    end_open_memory(&me, MEMORY_MEMFD, 4096, DAT_MEM_PRIV_ALL_FLAG);
    source = (void *)me.mem.data;
    while (!atomic_load(&answer->qual))
        poll_pause();
    DAT_OK(end_connect(&me, answer->qual));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_ESTABLISHED);
    await_join();
    posts_lose(reuse_source);
    write_word(&me, 0, DAT_COMPLETION_SUPPRESS_FLAG);
    write_word(&me, 1, DAT_COMPLETION_DEFAULT_FLAG);
    EXPECT_DTO(me.request, 1, DAT_DTO_SUCCESS, 8);
    assert_int_equal(source[0], 2);
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    join(peer);
    end_close(&me);
    shared_free(answer, sizeof *answer);
    assert_int_equal(cable_plug(&cable[0]), 0);
}

/* A short read is lost with the lead, and is done again. It brings the bytes
 * that were there before a later write to the same memory. */
static void read_before_write(void **state)
{
    enum { READ_WORD, WRITTEN, OTHER };
    end_t me, peer;
    ends_open(&me, &peer, MEMORY_MEMFD, 4096);
    end_connect_both(&me, &peer);
    await_join();
    uint64_t *mine = (void *)me.mem.data;
    _Atomic uint64_t *there = (void *)peer.mem.data;
    mine[WRITTEN] = 2;
    atomic_store(there, 1);
    DAT_LMR_TRIPLET from = local(&me.mem, 8 * WRITTEN, 8);
    DAT_LMR_TRIPLET into = local(&me.mem, 8 * READ_WORD, 8);
    DAT_RMR_TRIPLET word = remote(&peer.mem, 0, 8);
    DAT_RMR_TRIPLET other = remote(&peer.mem, 8 * OTHER, 8);
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &from, cookie(OTHER), &other,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    EXPECT_DTO(me.request, OTHER, DAT_DTO_SUCCESS, 8); /* the key is known */
    posts_drop_read();
    DAT_OK(dat_ep_post_rdma_read(me.ep, 1, &into, cookie(READ_WORD), &word,
                                 DAT_COMPLETION_DEFAULT_FLAG));
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &from, cookie(WRITTEN), &word,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    pause_ms(20);
    pull_first();
    EXPECT_DTO(me.request, READ_WORD, DAT_DTO_SUCCESS, 8);
    EXPECT_DTO(me.request, WRITTEN, DAT_DTO_SUCCESS, 8);
    assert_int_equal(mine[READ_WORD], 1);
    assert_int_equal(atomic_load(there), 2);
    assert_int_equal(cable_plug(&cable[0]), 0);
    ends_close(&me, &peer);
}

/* ----------------------------------------------------------- the stream --- */

static void broken(void **state)
{
    bond_stream("bond0", 200, pull_in_turn);
}

static void all_broken(void **state)
{
    bond_stream("bond0", 200, fail_all);
}

static void broken_long(void **state)
{
    bond_stream("bond0", 80, fail_long);
}

static void broken_fast(void **state)
{
    bond_stream("bond0", 200, fail_fast);
}

/* Members that do not count writes: the bond writes marks. */
static void broken_marked(void **state)
{
    hides_counts = true;
    bond_stream("bond0", 200, pull_in_turn);
    bond_stream("bond0", 100, fail_all);
    hides_counts = false;
}

static void silent(void **state)
{
    bond_stream("bond0", 200, mute_in_turn);
}

/* A member is silent. Messages of it that wait for the consumer's receives are
 * no sign of life. */
static void silent_with_messages(void **state)
{
    peer_t peer;
    end_t me;
    DAT_EVENT event;
    DAT_COUNT more;
    both_open(&peer, &me);
    for (unsigned i = 0; i < UNRECEIVED; i++)
        peer_post_send(&peer, 0, 8, i, DAT_COMPLETION_DEFAULT_FLAG);
    pause_ms(50);
    assert_int_equal(cable_mute(&cable[0], true), 0);
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    DAT_RMR_TRIPLET to = remote(&peer.end.mem, 0, 8);
    DAT_OK(dat_ep_post_rdma_write(me.ep, 1, &seg, cookie(1), &to,
                                  DAT_COMPLETION_DEFAULT_FLAG));
    DAT_OK(dat_evd_wait(me.request, SOON_US, 1, &event, &more));
    assert_int_equal(cable_mute(&cable[0], false), 0);
    peer_close(&peer, &me);
}

/* Each atomic is carried out once, and its result arrives. */
static void add_while(void (*disturb)(unsigned round))
{
    peer_t peer;
    end_t me;
    uint64_t base = 0;
    peer_open(&peer, &me,
              &(peer_options_t){
                  PEER_PROCESS, MEMORY_MEMFD, 4096,
                  (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG |
                                       (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC)});
    for (unsigned i = 0; i < ADDS + ADDS_AHEAD; i++) {
        if (i < ADDS) {
            disturb(i);
            end_post_add(&me, &peer.end.mem, i);
        }
        if (i < ADDS_AHEAD)
            continue;
        EXPECT_EVENT(me.request, DAT_IB_DTO_EVENT);
        uint64_t old, done = i - ADDS_AHEAD;
        memcpy(&old, me.mem.data + 8 * done, 8);
        if (!done)
            base = old;
        assert_int_equal(old, base + done);
    }
    peer_close(&peer, &me);
}

static void atomics(void **state)
{
    add_while(pull_in_turn);
}

static void atomics_all_broken(void **state)
{
    add_while(fail_all);
    add_while(fail_fast);
}

static void atomics_silent(void **state)
{
    add_while(mute_in_turn);
}

static void await_freed(void)
{
    for (unsigned i = 0; !atomic_load(&freed); i++) {
        assert_true(i < WAIT_MS);
        poll_pause();
    }
    assert_int_equal(refusals, 0);
}

/* A peer may still access the memory of a lost link: the bond frees it later.
 */
static void freed_later(void **state)
{
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    await_join();
    refusals = 2;
    assert_int_equal(cable_pull(&cable[0]), 0);
    await_freed();
    assert_int_equal(cable_plug(&cable[0]), 0);
    peer_close(&peer, &me);
}

/* The same when the connection has ended before: the PZ stays as long. */
static void freed_last(void **state)
{
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    await_join();
    refused = DAT_HANDLE_NULL;
    atomic_store(&freed, false);
    refusals = 2;
    DAT_OK(dat_ep_free(me.ep));
    me.ep = DAT_HANDLE_NULL;
    pause_ms(100);
    region_destroy(&me.mem);
    await_freed();
    assert_int_equal(atomic_load(&busy_pzs), 0);
    peer_close(&peer, &me);
}

/* The peer breaks the connection: this end does not wait for members to return.
 */
static void broken_by_peer(void **state)
{
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    await_join();
    DAT_LMR_TRIPLET seg = local(&me.mem, 0, 8);
    peer_post_recv(&peer, 0, 4, 1); /* too short */
    DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(1),
                            DAT_COMPLETION_SUPPRESS_FLAG));
    both_break(&peer, &me, SOON_US / 2);
    peer_close(&peer, &me);
}

/* The connection breaks only when no member is left, and none has returned
 * within a second. */
static void none_left(void **state)
{
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    pause_ms(100);
    assert_int_equal(cable_pull(&cable[0]), 0);
    expect_silence(me.conn, 100);
    assert_int_equal(cable_pull(&cable[1]), 0);
    expect_silence(me.conn, 500);
    both_break(&peer, &me, 2 * SOON_US);
    plug_all();
    peer_close(&peer, &me);
}

/* All members are lost, and the peer disconnects meanwhile. The first member
 * that returns brings the answer that the connection is gone: this end waits no
 * longer. */
static void gone(void **state)
{
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    await_join();
    pull_all();
    peer_disconnect(&peer, DAT_CLOSE_ABRUPT_FLAG);
    peer_expect_event(&peer, EVD_CONN, DAT_CONNECTION_EVENT_DISCONNECTED);
    expect_silence(me.conn, 200);
    plug_all();
    DAT_EVENT event;
    DAT_COUNT more;
    DAT_OK(dat_evd_wait(me.conn, SOON_US / 2, 1, &event, &more));
    assert_int_equal(event.event_number, DAT_CONNECTION_EVENT_BROKEN);
    peer_close(&peer, &me);
}

/* A graceful disconnect waits for the peer's receives. Meanwhile the lead is
 * lost, then all members, which return. */
static void while_draining(void **state)
{
    enum { MESSAGES = 4 };
    peer_t peer;
    end_t me;
    both_open(&peer, &me);
    await_join();
    for (unsigned i = 0; i < MESSAGES; i++) {
        DAT_LMR_TRIPLET seg = local(&me.mem, 8 * i, 8);
        DAT_OK(dat_ep_post_send(me.ep, 1, &seg, cookie(i),
                                DAT_COMPLETION_SUPPRESS_FLAG));
    }
    DAT_OK(dat_ep_disconnect(me.ep, DAT_CLOSE_GRACEFUL_FLAG));
    pull_first();
    pause_ms(100);
    pull_second();
    pause_ms(100);
    plug_all();
    expect_silence(me.conn, 100);
    for (unsigned i = 0; i < MESSAGES; i++)
        peer_post_recv(&peer, 8 * i, 8, i);
    for (unsigned i = 0; i < MESSAGES; i++)
        peer_expect_dto(&peer, EVD_RECV, i, DAT_DTO_SUCCESS, 8);
    EXPECT_EVENT(me.conn, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer_expect_event(&peer, EVD_CONN, DAT_CONNECTION_EVENT_DISCONNECTED);
    peer_close(&peer, &me);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken),
        cmocka_unit_test(arrived_unknown),
        cmocka_unit_test(broken_marked),
        cmocka_unit_test(arrived_once),
        cmocka_unit_test(silent),
        cmocka_unit_test(silent_with_messages),
        cmocka_unit_test(atomics),
        cmocka_unit_test(atomics_silent),
        cmocka_unit_test(none_left),
        cmocka_unit_test(read_before_write),
        cmocka_unit_test(all_broken),
        cmocka_unit_test(broken_fast),
        cmocka_unit_test(broken_long),
        cmocka_unit_test(broken_by_peer),
        cmocka_unit_test(gone),
        cmocka_unit_test(while_draining),
        cmocka_unit_test(freed_later),
        cmocka_unit_test(freed_last),
        cmocka_unit_test(atomics_all_broken),
    };
    setenv("TEST_IA", "bond0", 1);
    const char *folder = cables_folder();
    if (!folder || cable_grasp(&cable[0], folder, "shm0") ||
        cable_grasp(&cable[1], folder, "shm1"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
