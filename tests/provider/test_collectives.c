/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of dat_ib_collective_*: how they begin, wait, fail and end. */
#include "collective_ranks.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "tests/sanitizers.h"

/* A group ends while the next one is created. */
static void groups_in_turn(struct rank *r)
{
    open_ia(r);
    create_member(r);
    for (unsigned i = 0; i < 8; i++) {
        create_group(r, i % 3, i % 2);
        barriers(r);
        DAT_OK(dat_ib_collective_free_group(r->group));
    }
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

/* ThreadSanitizer does not know that the shm provider asks each number whether
 * it is the descriptor of a file, while other threads open and close theirs. */
static void skip_where_descriptors_race(void)
{
    if (TSAN)
        skip();
}

static void test_in_turn(void **state)
{
    skip_where_descriptors_race();
    run_well(3, groups_in_turn);
}

/* ------------------------------------------------------- not blocking --- */

#define QUEUED 200

/* Rank 1 begins only after rank 0 has posted all of its calls. */
static void post_many(struct rank *r)
{
    unsigned char buffer[QUEUED][8] = {{0}};
    open_ia(r);
    create_member(r);
    create_group(r, 1, 0);
    if (r->rank)
        meet(r);
    for (unsigned i = 0; i < QUEUED; i++) {
        fill_of(buffer[i], r->rank ? 9 : i, 8);
        DAT_OK(dat_ib_collective_broadcast(
            r->group, buffer[i], 8, 0, context(i),
            i % 2 ? DAT_COMPLETION_SUPPRESS_FLAG : 0));
    }
    DAT_OK(dat_ib_collective_barrier(r->group, context(QUEUED), 0));
    if (!r->rank)
        meet(r);
    for (unsigned i = 0; i < QUEUED; i += 2)
        good(r, DAT_IB_COLLECTIVE_BROADCAST_STATUS, i);
    good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, QUEUED);
    for (unsigned i = 0; i < QUEUED; i++)
        check_of(buffer[i], i, 8);
    close_all(r);
}

static void test_not_blocking(void **state)
{
    run_well(2, post_many);
}

/* A queue has an end; then its calls still complete. */
static void fill_queue(struct rank *r)
{
    unsigned posted = 0;
    open_all(r);
    DAT_RETURN ret = DAT_SUCCESS;
    while (!r->rank && ret == DAT_SUCCESS && posted < 10000) {
        ret = dat_ib_collective_barrier(r->group, context(0), 0);
        posted += ret == DAT_SUCCESS;
    }
    if (!r->rank) {
        check_dat(ret, DAT_CLASS_ERROR | DAT_INSUFFICIENT_RESOURCES, "barrier",
                  __FILE__, __LINE__);
        assert_in_range(posted, 100, 9999);
        memcpy(shared->info[MOST - 1], &posted, sizeof posted);
    }
    meet(r);
    memcpy(&posted, shared->info[MOST - 1], sizeof posted);
    for (unsigned i = 0; i < posted; i++) {
        if (r->rank)
            DAT_OK(dat_ib_collective_barrier(r->group, context(0), 0));
        good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, 0);
    }
    close_all(r);
}

static void test_full(void **state)
{
    run_well(2, fill_queue);
}

/* The consumer does neither poll nor wait while the others need it. */
static void compute(struct rank *r)
{
    open_all(r);
    DAT_OK(dat_ib_collective_barrier(r->group, context(1), 0));
    if (r->rank != 1)
        good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, 1);
    meet(r);
    if (r->rank == 1)
        good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, 1);
    close_all(r);
}

static void test_computes(void **state)
{
    run_well(4, compute);
}

/* Polls once for the event of a call that has succeeded. */
static bool poll_for(struct rank *r, uint64_t value)
{
    DAT_EVENT event;
    if (DAT_GET_TYPE(dat_evd_dequeue(r->evd, &event)) == DAT_QUEUE_EMPTY)
        return false;
    DAT_IB_EXTENSION_EVENT_DATA *data = (void *)event.event_extension_data;
    assert_int_equal(data->coll.context.as_64, value);
    assert_int_equal(data->status, DAT_OP_SUCCESS);
    return true;
}

/* Polled, without a wait. */
static void poll_only(struct rank *r)
{
    open_all(r);
    for (unsigned i = 0; i < 200; i++) {
        DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
        while (!poll_for(r, i))
            ;
    }
    close_all(r);
}

static void test_polled(void **state)
{
    run_well(2, poll_only);
}

/* Two groups, which the ranks begin in opposite orders. */
static void two_groups(struct rank *r)
{
    DAT_HANDLE group[2] = {DAT_HANDLE_NULL};
    open_ia(r);
    create_member(r);
    for (unsigned i = 0; i < 2; i++)
        DAT_OK(begin_group(r, (i + r->rank) % 2, NULL));
    for (unsigned i = 0; i < 2; i++) {
        DAT_EVENT event =
            expect_event(r->evd, (DAT_EVENT_NUMBER)DAT_IB_COLLECTIVE_EVENT,
                         __FILE__, __LINE__);
        DAT_IB_EXTENSION_EVENT_DATA *data = (void *)event.event_extension_data;
        assert_int_equal(data->status, DAT_OP_SUCCESS);
        assert_in_range(data->coll.context.as_64, 1000, 1001);
        group[data->coll.context.as_64 - 1000] = data->coll.handle;
    }
    for (unsigned i = 0; i < 2; i++) {
        r->group = group[i];
        barriers(r);
    }
    DAT_OK(dat_ib_collective_free_group(group[0]));
    close_all(r);
}

static void test_two_groups(void **state)
{
    skip_where_descriptors_race();
    run_well(2, two_groups);
}

#define BARRIERS 400

static void wait_ns(uint64_t ns)
{
    uint64_t until = busywait_now_ns() + ns;
    while (busywait_now_ns() < until)
        ;
}

/* How often this thread has slept. */
static long sleeps(void)
{
    struct rusage used;
    assert_int_equal(getrusage(RUSAGE_THREAD, &used), 0);
    return used.ru_nvcsw;
}

/* How often it slept in some barriers. Rank 1 comes later, so that rank 0
 * polls. */
static long barrier_sleeps(struct rank *r)
{
    const long before = sleeps();
    for (unsigned i = 0; i < BARRIERS; i++) {
        while (r->rank && atomic_load(&shared->begun) <= i)
            ;
        wait_ns(r->rank ? 20000 : 0);
        DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
        if (!r->rank)
            atomic_fetch_add(&shared->begun, 1);
        while (!poll_for(r, i))
            ;
    }
    return sleeps() - before;
}

/* Rank 0 waits for rank 1 to create another group. */
static void another_at_work(struct rank *r)
{
    open_all(r);
    DAT_HANDLE first = r->group;
    if (!r->rank)
        DAT_OK(begin_group(r, 2, NULL));
    assert_in_range(barrier_sleeps(r), 0, BARRIERS / 4);
    if (r->rank)
        DAT_OK(begin_group(r, 2, NULL));
    assert_int_equal(group_status(r, 2), DAT_OP_SUCCESS);
    barriers(r);
    DAT_OK(dat_ib_collective_free_group(first));
    close_all(r);
}

static void test_another_at_work(void **state)
{
    skip_where_descriptors_race();
    run_well(2, another_at_work);
}

/* ------------------------------------------------------ wrong arguments --- */

#define REFUSED(call, type) DAT_FAILS(call, type)

static void wrong_group(struct rank *r)
{
    DAT_IB_COLLECTIVE_MEMBER few[1] = {NULL}, *members = r->members;
    DAT_CONTEXT none = context(0);
    unsigned char other[INFO] = {0};
    REFUSED(dat_ib_collective_create_group(NULL, 1, 0, 1, NULL, r->evd, r->pz,
                                           none),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_create_group(members, 0, 0, 1, NULL, r->evd,
                                           r->pz, none),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_create_group(members, 1, 1, 1, NULL, r->evd,
                                           r->pz, none),
            DAT_INVALID_PARAMETER);
    REFUSED(
        dat_ib_collective_create_group(few, 1, 0, 1, NULL, r->evd, r->pz, none),
        DAT_INVALID_PARAMETER);
    few[0] = other; /* this rank's info is another */
    REFUSED(
        dat_ib_collective_create_group(few, 1, 0, 1, NULL, r->evd, r->pz, none),
        DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_create_group(members, 1, 0, 1, NULL, r->evd,
                                           r->evd, none),
            DAT_INVALID_HANDLE);
    REFUSED(dat_ib_collective_create_group(members, 1, 0, 1, NULL, r->pz, r->pz,
                                           none),
            DAT_INVALID_HANDLE);
}

static void wrong_calls(struct rank *r)
{
    int64_t a = 1, b = 2;
    DAT_CONTEXT none = context(0);
    DAT_HANDLE g = r->group;
    REFUSED(dat_ib_collective_broadcast(g, &a, -1, 0, none, 0),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_broadcast(g, NULL, 8, 0, none, 0),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_broadcast(g, &a, 8, r->size, none, 0),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_allgather(g, &a, -8, &b, 8, none, 0),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_allgather(g, &a, 8, NULL, 8, none, 0),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_allgather(g, &a, 8, &b, 7, none, 0),
            DAT_INVALID_PARAMETER);
#define ALLREDUCE(send, n, recv, room, op, type)                               \
    dat_ib_collective_allreduce(g, send, n, recv, room,                        \
                                DAT_IB_COLLECTIVE_REDUCE_OP_##op,              \
                                DAT_IB_COLLECTIVE_TYPE_##type, none, 0)
    REFUSED(ALLREDUCE(&a, 7, &b, 8, SUM, INT64), DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, -8, &b, 8, SUM, INT64), DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, 8, &b, 0, SUM, INT64), DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, 8, NULL, 8, SUM, INT64), DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, MINLOC + 1, INT64), DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, SUM, DOUBLE_INT + 1),
            DAT_INVALID_PARAMETER);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, LAND, DOUBLE), DAT_MODEL_NOT_SUPPORTED);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, BAND, DOUBLE), DAT_MODEL_NOT_SUPPORTED);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, MAXLOC, INT32), DAT_MODEL_NOT_SUPPORTED);
    REFUSED(ALLREDUCE(&a, 8, &b, 8, MAX, 2INT), DAT_MODEL_NOT_SUPPORTED);
    REFUSED(dat_ib_collective_scan(g, &a, 8, &b, 8,
                                   DAT_IB_COLLECTIVE_REDUCE_OP_SUM,
                                   DAT_IB_COLLECTIVE_TYPE_INT64, none, 0),
            DAT_NOT_IMPLEMENTED);
    REFUSED(dat_ib_collective_barrier(r->evd, none, 0), DAT_INVALID_HANDLE);
    REFUSED(dat_ib_collective_free_group(r->evd), DAT_INVALID_HANDLE);
    expect_silence(r->evd, 20);
}

/* Blocks without a buffer, and a block of a negative size. */
static void wrong_irregular_calls(struct rank *r)
{
    int64_t a = 1, b = 2;
    DAT_CONTEXT none = context(0);
    DAT_HANDLE g = r->group;
    DAT_COUNT some[MOST] = {8, 8, 8, 8}, at[MOST] = {0}, less[MOST] = {-1};
#define IRREGULAR(name, ...)                                                   \
    dat_extension_op(g, (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_##name##_OP,        \
                     __VA_ARGS__, none, 0)
    for (unsigned i = 0; i < 2; i++) {
        void *buffer = i ? &b : NULL;
        DAT_COUNT *n = i ? less : some;
        REFUSED(IRREGULAR(GATHERV, &a, 8, buffer, n, at, r->rank),
                DAT_INVALID_PARAMETER);
        REFUSED(IRREGULAR(SCATTERV, buffer, n, at, &a, 8, r->rank),
                DAT_INVALID_PARAMETER);
        REFUSED(IRREGULAR(ALLGATHERV, &a, 8, buffer, n, at),
                DAT_INVALID_PARAMETER);
        REFUSED(IRREGULAR(ALLTOALLV, &a, some, at, buffer, n, at),
                DAT_INVALID_PARAMETER);
        REFUSED(IRREGULAR(ALLTOALLV, buffer, n, at, &a, some, at),
                DAT_INVALID_PARAMETER);
    }
    expect_silence(r->evd, 20);
}

static void wrong_arguments(struct rank *r)
{
    DAT_IB_COLLECTIVE_MEMBER another;
    open_ia(r);
    REFUSED(dat_ib_collective_create_group(r->members, 1, 0, 1, NULL, r->evd,
                                           r->pz, context(0)),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_create_member(r->ia, NULL, NULL, &r->info_bytes),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_ib_collective_create_member(r->ia, NULL, &another, NULL),
            DAT_INVALID_PARAMETER);
    REFUSED(
        dat_ib_collective_create_member(r->pz, NULL, &another, &r->info_bytes),
        DAT_INVALID_HANDLE);
    create_member(r);
    REFUSED(
        dat_ib_collective_create_member(r->ia, NULL, &another, &r->info_bytes),
        DAT_INVALID_STATE);
    wrong_group(r);
    create_group(r, 1, 1);
    wrong_calls(r);
    wrong_irregular_calls(r);
    barriers(r); /* all is well */
    REFUSED(dat_ib_collective_free_member(r->ia, &another),
            DAT_INVALID_PARAMETER);
    REFUSED(dat_evd_free(r->evd), DAT_INVALID_STATE);
    REFUSED(dat_ia_close(r->ia, DAT_CLOSE_GRACEFUL_FLAG), DAT_INVALID_STATE);
    DAT_OK(dat_ib_collective_free_group(r->group));
    REFUSED(dat_ib_collective_free_group(r->group), DAT_INVALID_HANDLE);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    REFUSED(dat_ib_collective_free_member(r->ia, r->member),
            DAT_INVALID_PARAMETER);
    close_ia(r);
}

static void test_wrong_arguments(void **state)
{
    run_well(1, wrong_arguments);
    run_well(2, wrong_arguments);
}

/* ------------------------------------------------------------- failures --- */

/* The last rank dies in the middle. */
static void a_rank_dies(struct rank *r)
{
    open_all(r);
    barriers(r);
    meet(r);
    if (r->rank == r->size - 1)
        kill(getpid(), SIGKILL);
    for (unsigned i = 0; i < 3; i++) {
        DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
        assert_int_equal(
            event_of(r, r->evd, DAT_IB_COLLECTIVE_BARRIER_STATUS, i),
            DAT_IB_COLL_COMP_ERR);
    }
    close_all(r);
}

/* The last rank dies before the group is created. */
static void dies_early(struct rank *r)
{
    open_ia(r);
    create_member(r);
    if (r->rank == r->size - 1) {
        DAT_OK(begin_group(r, 1, NULL)); /* it is known to rank 0 */
        usleep(300000);
        kill(getpid(), SIGKILL);
    }
    usleep(100000);
    if (r->rank == r->size - 2)
        usleep(500000); /* so the group can't be complete before */
    DAT_OK(begin_group(r, 1, NULL));
    assert_int_equal(group_status(r, 1), DAT_IB_COLL_COMP_ERR);
    assert_null(r->group);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

/* Rank 0's process is gone, with its port. */
static void no_rank_0(struct rank *r)
{
    open_ia(r);
    create_member(r);
    if (!r->rank)
        kill(getpid(), SIGKILL);
    usleep(100000);
    DAT_OK(begin_group(r, 1, NULL));
    assert_int_equal(group_status(r, 1), DAT_IB_COLL_COMP_ERR);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_death(void **state)
{
    assert_int_equal(run(2, a_rank_dies), 1);
    assert_int_equal(run(4, a_rank_dies), 3);
    assert_int_equal(run(3, dies_early), 2);
    assert_int_equal(run(2, no_rank_0), 1);
}

/* Strangers connect to rank 0's port, and say nothing, or nonsense. The group
 * waits for none of them. The layout of the info is not the consumer's
 * business; here it is looked into. */
static void strangers(struct rank *r)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    open_ia(r);
    create_member(r);
    memcpy(&to.sin_addr, shared->info[0] + 8, sizeof to.sin_addr);
    memcpy(&to.sin_port, shared->info[0] + 24, sizeof to.sin_port);
    for (unsigned i = 0; r->rank && i < 10; i++) {
        char nonsense[64] = "who is there?";
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (void *)&to, sizeof to), 0);
        if (i == 1)
            assert_int_equal(send(fd, nonsense, sizeof nonsense, 0), 64);
    }
    meet(r);
    time_t begin = time(NULL);
    create_group(r, 1, 1);
    assert_true(time(NULL) - begin < 7);
    barriers(r);
    close_all(r);
}

static void test_strangers(void **state)
{
    run_well(2, strangers);
}

/* Infos that are none: the group is refused, by an event. */
static void wrong_info(struct rank *r)
{
    unsigned char nonsense[INFO] = {1, 2, 3};
    open_ia(r);
    create_member(r);
    r->members[0] = nonsense;
    r->rank = 1;
    r->members[1] = r->member;
    r->size = 2;
    DAT_OK(begin_group(r, 1, NULL));
    assert_int_equal(group_status(r, 1), DAT_IB_COLL_COMP_ERR);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_wrong_info(void **state)
{
    run_well(1, wrong_info);
}

/* Ranks 0 and 1 say that there are three ranks; rank 2 says two, and is rank 1
 * of them. Rank 1 comes first, or last. When all have failed, they agree, and
 * create a group of another number. */
static unsigned late; /* the rank that comes last */

static void other_size(struct rank *r)
{
    const struct rank right = *r;
    open_ia(r);
    create_member(r);
    if (r->rank == 2) {
        r->size = 2;
        r->rank = 1;
        r->members[1] = r->member;
        late = late == 2;
    }
    if (r->rank == late)
        usleep(300000);
    DAT_OK(begin_group(r, 1, NULL));
    assert_int_equal(group_status(r, 1), DAT_IB_COLL_COMP_ERR);
    r->size = right.size;
    r->rank = right.rank;
    r->members[1] = shared->info[1];
    meet(r);
    create_group(r, 2, 1);
    barriers(r);
    DAT_OK(dat_ib_collective_free_group(r->group));
    meet(r);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_other_size(void **state)
{
    for (late = 0; late < 3; late++)
        run_well(3, other_size);
}

/* Ranks 1 and 2 say that they are rank 1. Rank 3 comes when rank 0 has failed.
 */
static void same_rank(struct rank *r)
{
    open_ia(r);
    create_member(r);
    if (r->rank == 2) {
        r->rank = 1;
        r->members[1] = r->member;
    } else if (r->rank == 3) {
        usleep(300000);
    }
    DAT_OK(begin_group(r, 1, NULL));
    assert_int_equal(group_status(r, 1), DAT_IB_COLL_COMP_ERR);
    meet(r);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_same_rank(void **state)
{
    run_well(4, same_rank);
}

/* Rank 0's process has no room for rank 1's connection, for a while. */
static void no_room(struct rank *r)
{
    struct rlimit usual, none = {.rlim_cur = 3};
    open_ia(r);
    create_member(r);
    if (!r->rank) {
        getrlimit(RLIMIT_NOFILE, &usual);
        none.rlim_max = usual.rlim_max;
        DAT_OK(begin_group(r, 1, NULL));
        usleep(50000);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    meet(r);
    if (r->rank) {
        DAT_OK(begin_group(r, 1, NULL));
    } else {
        clock_t before = clock();
        usleep(500000);
        assert_in_range(clock() - before, 0, CLOCKS_PER_SEC / 8);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &usual), 0);
    }
    assert_int_equal(group_status(r, 1), DAT_OP_SUCCESS);
    barriers(r);
    close_all(r);
}

static void test_no_room(void **state)
{
    run_well(2, no_room);
}

/* ----------------------------------------------------------------- ends --- */

/* Calls under way end with errors, on the rank that frees and on the other. */
static void free_under_way(struct rank *r)
{
    open_all(r);
    barriers(r);
    if (!r->rank)
        for (unsigned i = 0; i < 3; i++)
            DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
    meet(r);
    if (!r->rank) {
        DAT_OK(dat_ib_collective_free_group(r->group));
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(
                event_of(r, r->evd, DAT_IB_COLLECTIVE_BARRIER_STATUS, i),
                DAT_IB_COLL_COMP_ERR);
        meet(r);
    } else {
        meet(r);
        /* the first one may complete: rank 0 has begun it */
        DAT_OK(dat_ib_collective_barrier(r->group, context(0), 0));
        (void)event_of(r, r->evd, DAT_IB_COLLECTIVE_BARRIER_STATUS, 0);
        DAT_OK(dat_ib_collective_barrier(r->group, context(1), 0));
        assert_int_equal(
            event_of(r, r->evd, DAT_IB_COLLECTIVE_BARRIER_STATUS, 1),
            DAT_IB_COLL_COMP_ERR);
        DAT_OK(dat_ib_collective_free_group(r->group));
    }
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

/* The member goes first; rank 1 closes abruptly, with all that is left. */
static void other_order(struct rank *r)
{
    open_all(r);
    barriers(r);
    if (!r->rank) {
        DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
        DAT_OK(dat_ib_collective_free_group(r->group));
        close_ia(r);
        return;
    }
    DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_ABRUPT_FLAG));
}

/* Nobody comes: an abrupt close ends the creation, also if the group's thread
 * has not begun it. Rank 1 finds no rank 0. */
static void close_creating(struct rank *r)
{
    unsigned char nonsense[INFO] = {1, 2, 3};
    unsigned all = r->size;
    for (unsigned i = 0; i < 20; i++) {
        r->size = all;
        open_ia(r);
        create_member(r);
        r->rank = i % 2;
        r->size = 2;
        r->members[r->rank] = r->member;
        r->members[!r->rank] = nonsense;
        DAT_OK(begin_group(r, 1, NULL));
        if (i >= 18)
            usleep(50000);
        DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_ABRUPT_FLAG));
    }
}

/* A child inherits it with a call under way, polls, and closes. The parent goes
 * on. */
static void forks(struct rank *r)
{
    DAT_EVENT event;
    open_ia(r);
    create_member(r);
    create_group(r, 2, 2);
    barriers(r);
    if (!r->rank)
        DAT_OK(dat_ib_collective_barrier(r->group, context(1), 0));
    pid_t child = fork();
    if (!child) {
        for (unsigned i = 0; i < 1000; i++, usleep(100))
            DAT_FAILS(dat_evd_dequeue(r->evd, &event), DAT_QUEUE_EMPTY);
        DAT_FAILS(dat_ib_collective_barrier(r->group, context(0), 0),
                  DAT_INVALID_STATE);
        DAT_OK(dat_ib_collective_free_group(r->group));
        DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
        DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_ABRUPT_FLAG));
        _exit(0);
    }
    meet(r);
    if (r->rank)
        DAT_OK(dat_ib_collective_barrier(r->group, context(1), 0));
    good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, 1);
    int status = 1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    barriers(r);
    close_all(r);
}

/* Rank 1's process is stopped while both ranks end the group. */
static unsigned stop_us;

static void kill_the_other(int signal)
{
    pid_t pid;
    (void)signal;
    memcpy(&pid, shared->info[MOST - 1], sizeof pid);
    kill(pid, SIGKILL);
    _exit(1);
}

static void stop(int signal)
{
    (void)signal;
    raise(SIGSTOP);
}

static void stopped(struct rank *r)
{
    struct itimerval soon = {.it_value.tv_usec = stop_us};
    pid_t pid = getpid();
    open_all(r);
    barriers(r);
    if (r->rank)
        memcpy(shared->info[MOST - 1], &pid, sizeof pid);
    signal(SIGALRM, r->rank ? stop : kill_the_other);
    meet(r);
    if (r->rank)
        setitimer(ITIMER_REAL, &soon, NULL);
    time_t begin = time(NULL);
    close_all(r);
    if (r->rank)
        pause(); /* rank 0 may be slower */
    assert_true(time(NULL) - begin < 8);
    memcpy(&pid, shared->info[MOST - 1], sizeof pid);
    kill(pid, SIGKILL);
}

static void test_stopped(void **state)
{
    for (stop_us = 100; stop_us < 10000; stop_us *= 4)
        assert_int_equal(run(2, stopped), 1);
}

static void test_ends(void **state)
{
    run_well(2, free_under_way);
    run_well(2, other_order);
    run_well(1, close_creating);
}

static void test_fork(void **state)
{
    if (TSAN) /* a child that forks with threads */
        skip();
    run_well(2, forks);
}

/* -------------------------------------------------------------- offered --- */

static void offers(struct rank *r)
{
    static const char *const names[] = {
        "DAT_EXTENSION_INTERFACE", DAT_IB_COLL_BARRIER,
        DAT_IB_COLL_BROADCAST,     DAT_IB_COLL_GATHER,
        DAT_IB_COLL_GATHERV,       DAT_IB_COLL_SCATTER,
        DAT_IB_COLL_SCATTERV,      DAT_IB_COLL_ALLGATHER,
        DAT_IB_COLL_ALLGATHERV,    DAT_IB_COLL_ALLTOALL,
        DAT_IB_COLL_ALLTOALLV,     DAT_IB_COLL_REDUCE,
        DAT_IB_COLL_ALLREDUCE};
    open_ia(r);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_non_null(provider_attribute(r->ia, names[i]));
        assert_string_equal(provider_attribute(r->ia, names[i]), "TRUE");
    }
    assert_null(provider_attribute(r->ia, DAT_IB_COLL_SCAN));
    assert_null(provider_attribute(r->ia, DAT_IB_COLL_REDUCE_SCATTER));
    close_ia(r);
}

static void offers_none(struct rank *r)
{
    strcpy(rail, "plain");
    open_ia(r);
    assert_null(provider_attribute(r->ia, DAT_IB_COLL_BARRIER));
    REFUSED(dat_ib_collective_create_member(r->ia, NULL, &r->member,
                                            &r->info_bytes),
            DAT_NOT_IMPLEMENTED);
    REFUSED(dat_ib_collective_create_group(r->members, 1, 0, 1, NULL, r->evd,
                                           r->pz, context(0)),
            DAT_NOT_IMPLEMENTED);
    close_ia(r);
}

static void no_library(struct rank *r)
{
    static const char *const wrong[] = {"missing", "another"};
    r->async = DAT_HANDLE_NULL;
    for (unsigned i = 0; i < 2; i++)
        DAT_FAILS(dat_ia_open((DAT_NAME_PTR)wrong[i], 8, &r->async, &r->ia),
                  DAT_INVALID_PARAMETER);
}

static void test_offered(void **state)
{
    run_well(1, offers);
    run_well(1, offers_none);
    run_well(1, no_library);
}

int main(int argc, char **argv)
{
    (void)argc;
    make_rails(argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offered),
        cmocka_unit_test(test_not_blocking),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_computes),
        cmocka_unit_test(test_polled),
        cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_another_at_work),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_wrong_info),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_same_rank),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
