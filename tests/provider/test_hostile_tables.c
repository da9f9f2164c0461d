/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer publishes nonsense about its memory and its link model. The initiator
 * uses only what it can check, and lives. */
#include "peer.h"

#include <math.h>
#include <netinet/in.h>
#include <time.h>

#include <dat2/dat_ib_extensions.h>

#include "providers/shm/shm.h"

#define BYTES   8192
#define CONTROL "dapl-shm-control" /* the file, one of each open IA */

/* Odd values for what has a usual one. */
enum { ODD = 9 };
static uint64_t odd(unsigned which, uint64_t usual)
{
    const uint64_t values[ODD] = {0,
                                  1,
                                  usual + 1,
                                  usual - 1,
                                  usual + 2 * SHM_PAGE,
                                  usual + 16 * SHM_PAGE,
                                  INT64_MAX,
                                  UINT64_MAX,
                                  usual * 6364136223846793005u};
    return values[which];
}

/* Mostly as it should be. */
static uint64_t one_of(uint64_t *seed, uint64_t usual)
{
    unsigned pick = (unsigned)(random_next(seed) % (3 * ODD));
    return pick < ODD ? odd(pick, usual) : usual;
}

/* ------------------------------------------------- the table of ranges --- */

/* The entry of a range, in the table of the only IA that is open. */
static struct shm_mr *entry_of(const region_t *region)
{
    struct shm_mr *table = shared_mapping(CONTROL, SHM_PAGE);
    struct shm_mr *e = &table[region->rmr_context % CORE_MAX_MRS];
    assert_int_equal(e->key, region->rmr_context);
    return e;
}

enum { FIELDS = 9 };
static void scribble_field(struct shm_mr *e, unsigned field, unsigned which)
{
    uint64_t fd = (uint64_t)(int64_t)e->fd;
    switch (field) {
    case 0:
        e->base = odd(which, e->base);
        break;
    case 1:
        e->length = odd(which, e->length);
        break;
    case 2:
        e->offset = odd(which, e->offset);
        break;
    case 3:
        e->inode = odd(which, e->inode);
        break;
    case 4:
        e->fd = (int32_t)odd(which, fd);
        break;
    case 5:
        e->priv = (int32_t)odd(which, (uint64_t)e->priv);
        break;
    case 6:
        e->pz_id = (uint32_t)odd(which, e->pz_id);
        break;
    case 7:
        e->ep_id = (uint32_t)odd(which, e->ep_id);
        break;
    default:
        e->key = (uint32_t)odd(which, e->key);
    }
}

/* Only where the range really lies: memory that is not mapped is reached by its
 * address, and a process may well ruin its own. */
static bool write_and_read(end_t *me, const region_t *target)
{
    DAT_LMR_TRIPLET here = local(&me->mem, 0, BYTES);
    DAT_RMR_TRIPLET there = remote(target, 0, BYTES);
    DAT_OK(dat_ep_post_rdma_write(me->ep, 1, &here, cookie(1), &there, 0));
    DAT_OK(dat_ep_post_rdma_read(me->ep, 1, &here, cookie(2), &there, 0));
    DAT_EVENT w = EXPECT_EVENT(me->request, DAT_DTO_COMPLETION_EVENT);
    DAT_EVENT r = EXPECT_EVENT(me->request, DAT_DTO_COMPLETION_EVENT);
    return !w.event_data.dto_completion_event_data.status &&
           !r.event_data.dto_completion_event_data.status;
}

/* True if all went well. */
static bool one_entry(memory_kind_t kind, unsigned fields,
                      const unsigned field[], const unsigned which[])
{
    end_t me, mad;
    end_open_memory(&mad, kind, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    struct shm_mr *entry = entry_of(&mad.mem), before = *entry;
    end_open_memory(&me, MEMORY_MALLOC, BYTES, DAT_MEM_PRIV_ALL_FLAG);
    end_connect_both(&me, &mad);
    for (unsigned i = 0; i < fields; i++)
        scribble_field(entry, field[i], which[i]);
    bool good = write_and_read(&me, &mad.mem);
    *entry = before;
    ends_close(&me, &mad);
    return good;
}

static void nonsense_in_a_field(void **state)
{
    int good = 0;
    for (int kind = 0; kind < MEMORY_KINDS; kind++)
        for (unsigned field = 0; field < FIELDS; field++)
            for (unsigned which = 0; which < ODD; which++)
                good += one_entry((memory_kind_t)kind, 1, &field, &which);
    /* else the nonsense was not seen */
    assert_in_range(good, 1, MEMORY_KINDS * FIELDS * ODD * 2 / 3);
}

static void nonsense_in_fields(void **state)
{
    enum { ROUNDS = 200, MANY = 3 };
    uint64_t seed = 3;
    for (int round = 0; round < ROUNDS; round++) {
        unsigned field[MANY], which[MANY];
        for (int i = 0; i < MANY; i++) {
            field[i] = (unsigned)(random_next(&seed) % FIELDS);
            which[i] = (unsigned)(random_next(&seed) % ODD);
        }
        one_entry((memory_kind_t)(round % MEMORY_KINDS), MANY, field, which);
    }
}

/* Where the mapped range would lie askew, words are reached by the address that
 * the peer says, or not at all. */
static void words_askew(void **state)
{
    enum { BASE = 0, OFFSET = 2, MORE = 2, LESS = 3 };
    const unsigned field[] = {BASE, BASE, OFFSET, OFFSET};
    const unsigned which[] = {MORE, LESS, MORE, LESS};
    for (int i = 0; i < 4; i++) {
        end_t me, mad;
        DAT_MEM_PRIV_FLAGS all =
            (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG |
                                 (int)DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
        end_open_memory(&mad, MEMORY_MEMFD, BYTES, all);
        struct shm_mr *entry = entry_of(&mad.mem), before = *entry;
        end_open_memory(&me, MEMORY_MALLOC, BYTES, all);
        end_connect_both(&me, &mad);
        fill(mad.mem.data, BYTES, 7);
        fill(me.mem.data, BYTES, 8);
        scribble_field(entry, field[i], which[i]);
        DAT_LMR_TRIPLET old = local(&me.mem, 0, 8);
        DAT_RMR_TRIPLET word = remote(&mad.mem, 64, 8);
        DAT_OK(dat_ib_post_fetch_and_add(me.ep, 0, &old, cookie(1), &word, 0));
        DAT_EVENT e = EXPECT_EVENT(me.request, DAT_IB_DTO_EVENT);
        if (!e.event_data.dto_completion_event_data.status)
            assert_memory_equal(me.mem.data, mad.mem.data + 64, 8);
        *entry = before;
        ends_close(&me, &mad);
    }
}

/* ---------------------------------------------------------- the link --- */

static double any_cost(uint64_t *seed)
{
    const double costs[] = {0.5, 0.5, 0.5,      0.5,   0,
                            -1,  NAN, INFINITY, 1e300, -0.0};
    return costs[random_next(seed) % (sizeof costs / sizeof *costs)];
}

static void scribble_way(struct shm_doorbell *door, uint64_t *seed)
{
    struct shm_way *way = &door->way;
    way->hops = (uint32_t)one_of(seed, way->hops);
    for (unsigned i = 0; i < SHM_HOPS; i++) {
        way->hop[i].clock = (uint32_t)one_of(seed, way->hop[i].clock);
        way->hop[i].ns_per_byte = any_cost(seed);
    }
    way->change_after = one_of(seed, way->change_after);
    way->change_ns_per_byte = any_cost(seed);
    door->clocks_fd = (int32_t)one_of(seed, (uint64_t)door->clocks_fd);
    door->clocks_inode = one_of(seed, door->clocks_inode);
}

/* Do they come to a connection? */
static bool connect_any(end_t *active, end_t *passive)
{
    DAT_EVENT e;
    time_t end = time(NULL) + WAIT_MS / 1000;
    DAT_OK(end_connect(active, passive->qual));
    while (dat_evd_dequeue(active->conn, &e) != DAT_SUCCESS) {
        assert_true(time(NULL) < end);
        if (dat_evd_dequeue(passive->cr, &e) == DAT_SUCCESS)
            DAT_OK(dat_cr_accept(e.event_data.cr_arrival_event_data.cr_handle,
                                 passive->ep, 0, NULL));
        poll_pause();
    }
    if (e.event_number == DAT_CONNECTION_EVENT_ESTABLISHED)
        return true;
    assert_int_equal(e.event_number, DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
    return false;
}

static void memory_of(end_t *end)
{
    region_create(&end->mem, MEMORY_MEMFD, BYTES, end->ia, end->pz,
                  DAT_MEM_PRIV_ALL_FLAG);
}

static void nonsense_of_the_link(void **state)
{
    enum { ROUNDS = 400 };
    uint64_t seed = 4;
    int connected = 0;
    for (int round = 0; round < ROUNDS; round++) {
        end_t me, mad;
        end_open_on(&mad, "ultra24-a0", NULL);
        scribble_way(shared_mapping(CONTROL, 0), &seed);
        end_open_on(&me, "ultra24-a0", NULL);
        memory_of(&me);
        memory_of(&mad);
        if (connect_any(round % 2 ? &mad : &me, round % 2 ? &me : &mad)) {
            /* a fast link or a slow one: not waited for */
            DAT_LMR_TRIPLET from = local(&me.mem, 0, 8);
            DAT_RMR_TRIPLET to = remote(&mad.mem, 0, 8);
            dat_ep_post_rdma_write(me.ep, 1, &from, cookie(1), &to, 0);
            dat_ep_post_send(me.ep, 1, &from, cookie(2), 0);
            connected++;
        }
        ends_close(&me, &mad);
    }
    assert_in_range(connected, 1, ROUNDS - 100);
}

/* While others may be looking, and ring there. */
static void scribble_door(struct shm_doorbell *door, uint64_t seed)
{
    uint32_t noise[sizeof *door / sizeof(uint32_t)];
    fill(noise, sizeof noise, seed);
    for (size_t i = 0; i < sizeof noise / sizeof *noise; i++)
        __atomic_store_n((uint32_t *)(void *)door + i, noise[i],
                         __ATOMIC_RELAXED);
}

/* Once there is a connection, nothing of the link is believed any more. */
static void nonsense_later(void **state)
{
    enum { ROUNDS = 20 };
    uint64_t seed = 5;
    end_t me, mad;
    end_open_on(&mad, "ultra24-a0", NULL);
    struct shm_doorbell *door = shared_mapping(CONTROL, 0);
    end_open_on(&me, "ultra24-a0", NULL);
    memory_of(&me);
    memory_of(&mad);
    end_connect_both(&me, &mad);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        DAT_LMR_TRIPLET from = local(&me.mem, 0, BYTES);
        DAT_LMR_TRIPLET in = local(&mad.mem, 0, BYTES);
        scribble_door(door, random_next(&seed));
        fill(me.mem.data, BYTES, i);
        DAT_OK(dat_ep_post_recv(mad.ep, 1, &in, cookie(i), 0));
        DAT_OK(dat_ep_post_send(me.ep, 1, &from, cookie(i), 0));
        EXPECT_DTO(mad.recv, i, DAT_DTO_SUCCESS, BYTES);
        EXPECT_DTO(me.request, i, DAT_DTO_SUCCESS, BYTES);
        assert_memory_equal(mad.mem.data, me.mem.data, BYTES);
    }
    ends_close(&me, &mad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonsense_in_a_field),
        cmocka_unit_test(nonsense_in_fields),
        cmocka_unit_test(words_askew),
        cmocka_unit_test(nonsense_of_the_link),
        cmocka_unit_test(nonsense_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
