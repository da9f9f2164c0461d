/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_ib_collective_*: a rail whose line of dat.conf names libdcoll_dat. Ranks
 * are processes; they exchange their members' infos through shared memory.
 */
#include "util.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>

#include <dat2/dat_ib_extensions.h>

#include "tests/sanitizers.h"

#define MOST    4
#define INFO    128 /* bytes; an info is shorter */
#define PATIENT 60  /* seconds of a rank */
#define LONGEST 300000

static char rail[32]; /* the IA under test */

static struct shared {
    atomic_uint arrived;
    unsigned char info[MOST][INFO];
} * shared;

struct rank {
    unsigned rank, size;
    DAT_IA_HANDLE ia;
    DAT_EVD_HANDLE async, evd;
    DAT_PZ_HANDLE pz;
    DAT_IB_COLLECTIVE_MEMBER member, members[MOST];
    DAT_COUNT info_bytes;
    DAT_HANDLE group;
    unsigned phase;
};

/* ---------------------------------------------------------------- ranks --- */

/* All ranks meet, outside DAT. */
static void meet(struct rank *r)
{
    unsigned until = ++r->phase * r->size;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < until)
        poll_pause();
}

static void open_ia(struct rank *r)
{
    r->async = DAT_HANDLE_NULL;
    DAT_OK(dat_ia_open(rail, 8, &r->async, &r->ia));
    DAT_OK(dat_pz_create(r->ia, &r->pz));
    DAT_OK(dat_evd_create(r->ia, 1024, DAT_HANDLE_NULL,
                          (DAT_EVD_FLAGS)DAT_IB_EVD_EXTENSION_FLAG, &r->evd));
}

static void create_member(struct rank *r)
{
    DAT_OK(dat_ib_collective_create_member(r->ia, NULL, &r->member,
                                           &r->info_bytes));
    assert_in_range(r->info_bytes, 1, INFO);
    memcpy(shared->info[r->rank], r->member, (size_t)r->info_bytes);
    meet(r);
    for (unsigned i = 0; i < r->size; i++)
        r->members[i] = shared->info[i];
}

/* An event of a collective; its status is returned. */
static DAT_IB_STATUS event_of(struct rank *r, DAT_EVD_HANDLE evd,
                              DAT_IB_EXT_TYPE type, uint64_t context)
{
    DAT_EVENT event = expect_event(
        evd, (DAT_EVENT_NUMBER)DAT_IB_COLLECTIVE_EVENT, __FILE__, __LINE__);
    DAT_IB_EXTENSION_EVENT_DATA *data = (void *)event.event_extension_data;
    assert_int_equal(data->type, type);
    assert_int_equal(data->coll.context.as_64, context);
    if (type == DAT_IB_COLLECTIVE_CREATE_DATA)
        r->group = data->coll.handle;
    else
        assert_ptr_equal(data->coll.handle, r->group);
    return data->status;
}

static DAT_CONTEXT context(uint64_t value)
{
    return (DAT_CONTEXT){.as_64 = value};
}

static DAT_RETURN begin_group(struct rank *r, unsigned id,
                              DAT_IB_COLLECTIVE_GROUP *layout)
{
    return dat_ib_collective_create_group(r->members, (DAT_COUNT)r->size,
                                          r->rank, id, layout, r->evd, r->pz,
                                          context(1000 + id));
}

static DAT_IB_STATUS group_status(struct rank *r, unsigned id)
{
    return event_of(r, r->evd, DAT_IB_COLLECTIVE_CREATE_DATA, 1000 + id);
}

/* Ranks per node; 0: no layout. With an odd id as Intel MPI 2018 gives it. */
static void create_group(struct rank *r, unsigned id, unsigned per_node)
{
    int local[MOST], node[MOST], unset[1] = {12345};
    DAT_IB_COLLECTIVE_GROUP layout = {.local_ranks = unset,
                                      .intranode_table = local,
                                      .internode_table = node};
    for (unsigned i = 0; per_node && i < r->size; i++) {
        bool here = i / per_node == r->rank / per_node, all = id % 2;
        layout.local_size += here;
        local[i] = here || all ? (int)(i % per_node) : -1;
        node[i] = i % per_node && !all ? -1 : (int)(i / per_node);
    }
    DAT_OK(begin_group(r, id, per_node ? &layout : NULL));
    assert_int_equal(group_status(r, id), DAT_OP_SUCCESS);
    assert_non_null(r->group);
}

/* With group 1, in which each rank is a node. */
static void open_all(struct rank *r)
{
    open_ia(r);
    create_member(r);
    create_group(r, 1, 1);
}

static void close_ia(struct rank *r)
{
    DAT_OK(dat_evd_free(r->evd));
    DAT_OK(dat_pz_free(r->pz));
    DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

static void close_all(struct rank *r)
{
    DAT_OK(dat_ib_collective_free_group(r->group));
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

/* Runs the ranks; how many of them ended well. */
static unsigned run(unsigned size, void (*body)(struct rank *r))
{
    pid_t child[MOST];
    unsigned good = 0;
    atomic_store(&shared->arrived, 0);
    for (unsigned i = 0; i < size; i++) {
        child[i] = fork();
        assert_true(child[i] >= 0);
        if (child[i])
            continue;
        struct rank r = {.rank = i, .size = size};
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        alarm(PATIENT);
        body(&r);
        exit(0);
    }
    for (unsigned i = 0; i < size; i++) {
        int status = 1;
        assert_int_equal(waitpid(child[i], &status, 0), child[i]);
        good += status == 0;
    }
    return good;
}

static void run_well(unsigned size, void (*body)(struct rank *r))
{
    assert_int_equal(run(size, body), size);
}

/* ----------------------------------------------------------- operations --- */

static const DAT_COUNT sizes[] = {0, 1, 8, 100, 4096, 70000, LONGEST};
#define SIZES (sizeof sizes / sizeof sizes[0])

static unsigned char byte_of(unsigned rank, size_t i)
{
    return (unsigned char)(rank * 37 + i * 11 + i / 251);
}

static void fill_of(unsigned char *at, unsigned rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = byte_of(rank, i);
}

static void check_of(const unsigned char *at, unsigned rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(rank, i))
            fail_msg("byte %zu of rank %u's %zu", i, rank, bytes);
}

static void good(struct rank *r, DAT_IB_EXT_TYPE type, uint64_t value)
{
    assert_int_equal(event_of(r, r->evd, type, value), DAT_OP_SUCCESS);
}

static void broadcasts(struct rank *r, unsigned char *buffer)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned root = 0; root < r->size; root++) {
            size_t n = (size_t)sizes[s];
            fill_of(buffer, r->rank == root ? root : 9, n);
            DAT_OK(dat_ib_collective_broadcast(r->group, buffer, sizes[s], root,
                                               context(s), 0));
            good(r, DAT_IB_COLLECTIVE_BROADCAST_STATUS, s);
            check_of(buffer, root, n);
        }
}

static void allgathers(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            memset(all, 0xee, r->size * n + 1);
            fill_of(in_place ? all + r->rank * n : mine, r->rank, n);
            DAT_OK(dat_ib_collective_allgather(
                r->group, in_place ? NULL : mine, sizes[s], all,
                in_place ? sizes[s] : sizes[s] * (DAT_COUNT)r->size, context(s),
                0));
            good(r, DAT_IB_COLLECTIVE_ALLGATHER_STATUS, s);
            for (unsigned i = 0; i < r->size; i++)
                check_of(all + i * n, i, n);
            assert_int_equal(all[r->size * n], 0xee);
        }
}

static void sums(struct rank *r, int32_t *mine, int32_t *sum)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            DAT_COUNT bytes = sizes[s] & ~3;
            size_t n = (size_t)bytes / sizeof *mine;
            int32_t *from = in_place ? sum : mine;
            for (size_t i = 0; i < n; i++)
                from[i] = (int32_t)(i * (r->rank + 1));
            DAT_OK(dat_ib_collective_allreduce(
                r->group, in_place ? NULL : mine, bytes, sum, bytes,
                DAT_IB_COLLECTIVE_REDUCE_OP_SUM, DAT_IB_COLLECTIVE_TYPE_INT32,
                context(s), 0));
            good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, s);
            int32_t factor = (int32_t)(r->size * (r->size + 1) / 2);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(sum[i], (int32_t)i * factor);
        }
}

static void gathers(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            memset(all, 0xee, r->size * n + 1);
            fill_of(stays ? all + root * n : mine, r->rank, n);
            DAT_OK(dat_ib_collective_gather(
                r->group, stays ? NULL : mine, sizes[s], here ? all : NULL,
                here ? sizes[s] * (DAT_COUNT)r->size : 0, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_GATHER_STATUS, s);
            for (unsigned i = 0; here && i < r->size; i++)
                check_of(all + i * n, i, n);
            assert_int_equal(all[r->size * n], 0xee);
        }
}

static void scatters(struct rank *r, unsigned char *mine, unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            for (unsigned i = 0; here && i < r->size; i++)
                fill_of(all + i * n, i, n);
            memset(mine, 0xee, n + 1);
            DAT_OK(dat_ib_collective_scatter(
                r->group, here ? all : NULL,
                in_place ? sizes[s] : sizes[s] * (DAT_COUNT)r->size,
                stays ? NULL : mine, sizes[s], root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_SCATTER_STATUS, s);
            check_of(stays ? all + root * n : mine, r->rank, n);
            assert_int_equal(mine[n], 0xee);
        }
}

static void alltoalls(struct rank *r, unsigned char *from, unsigned char *to)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            size_t n = (size_t)sizes[s];
            unsigned char *out = in_place ? to : from;
            memset(to, 0xee, r->size * n + 1);
            for (unsigned i = 0; i < r->size; i++)
                fill_of(out + i * n, 8 * r->rank + i, n);
            DAT_OK(dat_ib_collective_alltoall(
                r->group, in_place ? NULL : from, sizes[s], to,
                sizes[s] * (DAT_COUNT)r->size, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_ALLTOALL_STATUS, s);
            for (unsigned i = 0; i < r->size; i++)
                check_of(to + i * n, 8 * i + r->rank, n);
            assert_int_equal(to[r->size * n], 0xee);
        }
}

/* Blocks of other sizes, in reverse order, with gaps of a byte. The header's
 * macros of gatherv and alltoallv name arguments that they do not have. */
struct blocks {
    DAT_COUNT size[MOST], at[MOST];
};

static struct blocks blocks_of(const struct rank *r, unsigned turn,
                               DAT_COUNT most)
{
    struct blocks b;
    DAT_COUNT at = 0;
    memset(&b, 0, sizeof b);
    for (unsigned i = r->size; i-- > 0; at += b.size[i] + 1) {
        b.size[i] = most * (DAT_COUNT)((i + turn) % 3) / 2;
        b.at[i] = at;
    }
    return b;
}

static void fill_blocks(const struct rank *r, unsigned char *at,
                        const struct blocks *b, unsigned first)
{
    memset(at, 0xee, (size_t)(b->at[0] + b->size[0] + 1));
    for (unsigned i = 0; i < r->size; i++)
        fill_of(at + b->at[i], first + i, (size_t)b->size[i]);
}

static void check_blocks(const struct rank *r, const unsigned char *at,
                         const struct blocks *b, unsigned factor,
                         unsigned first)
{
    for (unsigned i = 0; i < r->size; i++) {
        check_of(at + b->at[i], factor * i + first, (size_t)b->size[i]);
        assert_int_equal(at[b->at[i] + b->size[i]], 0xee);
    }
}

static void gathers_of_other_sizes(struct rank *r, unsigned char *mine,
                                   unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned turn = 0; turn < 4; turn++) {
            struct blocks b = blocks_of(r, turn, sizes[s]);
            bool to_one = turn % 2, in_place = turn / 2;
            bool here = !to_one || r->rank == s % r->size;
            bool stays = here && in_place;
            memset(all, 0xee, (size_t)(b.at[0] + b.size[0] + 1));
            DAT_COUNT n = b.size[r->rank];
            fill_of(stays ? all + b.at[r->rank] : mine, r->rank, (size_t)n);
            if (to_one)
                DAT_OK(dat_extension_op(
                    r->group, (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_GATHERV_OP,
                    stays ? NULL : mine, n, all, here ? b.size : NULL, b.at,
                    s % r->size, context(s), 0));
            else
                DAT_OK(dat_ib_collective_allgatherv(
                    r->group, stays ? NULL : mine, n, all, b.size, b.at,
                    context(s), 0));
            good(r,
                 to_one ? DAT_IB_COLLECTIVE_GATHERV_STATUS
                        : DAT_IB_COLLECTIVE_ALLGATHERV_STATUS,
                 s);
            if (here)
                check_blocks(r, all, &b, 1, 0);
        }
}

static void scatters_of_other_sizes(struct rank *r, unsigned char *mine,
                                    unsigned char *all)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned turn = 0; turn < 4; turn++) {
            struct blocks b = blocks_of(r, turn, sizes[s]);
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = here && turn % 2;
            DAT_COUNT n = b.size[r->rank];
            fill_blocks(r, all, &b, 0);
            memset(mine, 0xee, (size_t)n + 1);
            DAT_OK(dat_ib_collective_scatterv(
                r->group, all, here ? b.size : NULL, b.at, stays ? NULL : mine,
                n, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_SCATTERV_STATUS, s);
            check_of(stays ? all + b.at[root] : mine, r->rank, (size_t)n);
            assert_int_equal(mine[n], 0xee);
        }
}

/* Both ranks of a pair know the size: it depends on their sum. */
static void alltoalls_of_other_sizes(struct rank *r, unsigned char *from,
                                     unsigned char *to)
{
    for (unsigned s = 0; s < SIZES; s++) {
        struct blocks b = blocks_of(r, r->rank, sizes[s]);
        fill_blocks(r, from, &b, 8 * r->rank);
        memset(to, 0xee, (size_t)(b.at[0] + b.size[0] + 1));
        DAT_OK(dat_extension_op(
            r->group, (DAT_EXTENDED_OP)DAT_IB_COLLECTIVE_ALLTOALLV_OP, from,
            b.size, b.at, to, b.size, b.at, context(s), 0));
        good(r, DAT_IB_COLLECTIVE_ALLTOALLV_STATUS, s);
        check_blocks(r, to, &b, 8, r->rank);
    }
}

static void reduces(struct rank *r, int32_t *mine, int32_t *sum)
{
    for (unsigned s = 0; s < SIZES; s++)
        for (unsigned in_place = 0; in_place < 2; in_place++) {
            DAT_COUNT bytes = sizes[s] & ~3;
            size_t n = (size_t)bytes / sizeof *mine;
            unsigned root = s % r->size;
            bool here = r->rank == root, stays = in_place && here;
            int32_t *from = stays ? sum : mine;
            int32_t factor = (int32_t)(r->size * (r->size + 1) / 2);
            for (size_t i = 0; i < n; i++)
                from[i] = (int32_t)(i * (r->rank + 1));
            DAT_OK(dat_ib_collective_reduce(
                r->group, stays ? NULL : mine, bytes, here ? sum : NULL,
                here ? bytes : 0, DAT_IB_COLLECTIVE_REDUCE_OP_SUM,
                DAT_IB_COLLECTIVE_TYPE_INT32, root, context(s), 0));
            good(r, DAT_IB_COLLECTIVE_REDUCE_STATUS, s);
            for (size_t i = 0; here && i < n; i++)
                assert_int_equal(sum[i], (int32_t)i * factor);
        }
}

/* Each operation with its result for ranks 0 to size - 1, which have 2, 3, … */
static void operators(struct rank *r)
{
    static const struct {
        DAT_IB_COLLECTIVE_REDUCE_DATA_OP op;
        int64_t of_two, of_four;
    } known[] = {
        {DAT_IB_COLLECTIVE_REDUCE_OP_MAX, 3, 5},
        {DAT_IB_COLLECTIVE_REDUCE_OP_MIN, 2, 2},
        {DAT_IB_COLLECTIVE_REDUCE_OP_SUM, 5, 14},
        {DAT_IB_COLLECTIVE_REDUCE_OP_PROD, 6, 120},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LAND, 1, 1},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BAND, 2, 0},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LOR, 1, 1},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BOR, 3, 7},
        {DAT_IB_COLLECTIVE_REDUCE_OP_LXOR, 0, 0},
        {DAT_IB_COLLECTIVE_REDUCE_OP_BXOR, 1, 0},
    };
    for (size_t i = 0; r->size % 2 == 0 && i < sizeof known / sizeof known[0];
         i++) {
        int64_t mine = r->rank + 2, result = -1;
        DAT_OK(dat_ib_collective_allreduce(
            r->group, &mine, 8, &result, 8, known[i].op,
            DAT_IB_COLLECTIVE_TYPE_INT64, context(i), 0));
        good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, i);
        assert_int_equal(result,
                         r->size == 2 ? known[i].of_two : known[i].of_four);
    }
}

#define SUM_OF(ctype, name)                                                    \
    do {                                                                       \
        ctype mine = (ctype)(r->rank + 1), sum = 0;                            \
        DAT_OK(dat_ib_collective_allreduce(                                    \
            r->group, &mine, sizeof mine, &sum, sizeof sum,                    \
            DAT_IB_COLLECTIVE_REDUCE_OP_SUM, DAT_IB_COLLECTIVE_TYPE_##name,    \
            context(7), 0));                                                   \
        good(r, DAT_IB_COLLECTIVE_ALLREDUCE_STATUS, 7);                        \
        assert_true(sum == (ctype)(r->size * (r->size + 1) / 2));              \
    } while (0)

static void types(struct rank *r)
{
    SUM_OF(int8_t, INT8);
    SUM_OF(uint8_t, UINT8);
    SUM_OF(int16_t, INT16);
    SUM_OF(uint16_t, UINT16);
    SUM_OF(int32_t, INT32);
    SUM_OF(uint32_t, UINT32);
    SUM_OF(int64_t, INT64);
    SUM_OF(uint64_t, UINT64);
    SUM_OF(float, FLOAT);
    SUM_OF(double, DOUBLE);
}

/* Rank 0 comes last: nobody may leave before. */
static void barriers(struct rank *r)
{
    for (unsigned i = 0; i < 20; i++) {
        meet(r);
        unsigned before = r->phase * r->size;
        if (!r->rank)
            usleep(5000);
        atomic_fetch_add(&shared->arrived, 1);
        DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
        good(r, DAT_IB_COLLECTIVE_BARRIER_STATUS, i);
        assert_true(atomic_load(&shared->arrived) >= before + r->size);
        r->phase++;
    }
}

static unsigned ppn; /* of the test's groups; 0: no layout */

static void all_operations(struct rank *r)
{
    unsigned char *mine = malloc(MOST * (LONGEST + 1));
    unsigned char *all = malloc(MOST * (LONGEST + 1));
    open_ia(r);
    create_member(r);
    create_group(r, ppn + r->size, ppn);
    barriers(r);
    broadcasts(r, mine);
    allgathers(r, mine, all);
    sums(r, (void *)mine, (void *)all);
    gathers(r, mine, all);
    scatters(r, mine, all);
    alltoalls(r, mine, all);
    gathers_of_other_sizes(r, mine, all);
    scatters_of_other_sizes(r, mine, all);
    alltoalls_of_other_sizes(r, mine, all);
    reduces(r, (void *)mine, (void *)all);
    operators(r);
    types(r);
    close_all(r);
    free(mine);
    free(all);
}

static void test_operations(void **state)
{
    for (unsigned size = 1; size <= MOST; size++)
        for (ppn = 0; ppn <= size; ppn++)
            run_well(size, all_operations);
}

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

/* Polled, without a wait. */
static void poll_only(struct rank *r)
{
    DAT_EVENT event;
    open_all(r);
    for (unsigned i = 0; i < 200; i++) {
        DAT_OK(dat_ib_collective_barrier(r->group, context(i), 0));
        while (DAT_GET_TYPE(dat_evd_dequeue(r->evd, &event)) == DAT_QUEUE_EMPTY)
            ;
        DAT_IB_EXTENSION_EVENT_DATA *data = (void *)event.event_extension_data;
        assert_int_equal(data->coll.context.as_64, i);
        assert_int_equal(data->status, DAT_OP_SUCCESS);
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
 * of them. Rank 1 comes first, or last. */
static unsigned late; /* the rank that comes last */

static void other_size(struct rank *r)
{
    unsigned all = r->size;
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
    r->size = all;
    meet(r);
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

static void test_other_size(void **state)
{
    for (late = 0; late < 3; late++)
        run_well(3, other_size);
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

/* Nobody comes: an abrupt close ends the creation. */
static void close_creating(struct rank *r)
{
    open_ia(r);
    create_member(r);
    r->members[1] = shared->info[1];
    r->size = 2;
    DAT_OK(begin_group(r, 1, NULL));
    usleep(50000);
    DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_ABRUPT_FLAG));
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
    for (stop_us = 100; stop_us < 10000; stop_us *= 2)
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
    /* over the same kind of rail as TEST_IA is */
    const char *folder = getenv("DAT_OVERRIDE");
    const char *slash = folder ? strrchr(folder, '/') : NULL;
    static char of_shm[300], of_bond[400], of_tcp[400];
    (void)argc;
    snprintf(of_shm, sizeof of_shm, "collectives=%.*s/libdcoll_dat.so",
             slash ? (int)(slash - folder) : 0, folder ? folder : "");
    snprintf(of_bond, sizeof of_bond, "left right %s", of_shm);
    snprintf(of_tcp, sizeof of_tcp, "provider=tcp device=lo %s", of_shm);
    const char *const lines[][3] = {
        {"libdapl_shm.so", "left", ""},
        {"libdapl_shm.so", "right", ""},
        {"libdapl_shm.so", "plain", ""},
        {"libdapl_shm.so", "missing", "collectives=/nowhere/lib.so"},
        {"libdapl_shm.so", "another", "collectives=libdat2.so.2"},
        {"libdapl_shm.so", "over-shm0", of_shm},
        {"libdapl_bond.so", "over-bond0", of_bond},
        {"libdapl_ofi.so", "over-tcp-lo", of_tcp},
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof lines[0]);
    snprintf(rail, sizeof rail, "over-%s", IA_NAME);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_offered),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_not_blocking),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_computes),
        cmocka_unit_test(test_polled),
        cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_in_turn),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_death),
        cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_wrong_info),
        cmocka_unit_test(test_other_size),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_fork),
    };
    return cmocka_run_group_tests(tests, NULL, remove_rails);
}
