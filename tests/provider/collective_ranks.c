/* SPDX-License-Identifier: BSD-3-Clause */
#include "collective_ranks.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

char rail[32];
struct shared *shared;

void make_rails(char **argv)
{
    const char *folder = getenv("DAT_OVERRIDE");
    const char *slash = folder ? strrchr(folder, '/') : NULL;
    static char of_shm[300], of_bond[400], of_tcp[400];
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
}

/* ---------------------------------------------------------------- ranks --- */

void meet(struct rank *r)
{
    unsigned until = ++r->phase * r->size;
    atomic_fetch_add(&shared->arrived, 1);
    while (atomic_load(&shared->arrived) < until)
        poll_pause();
}

void open_ia(struct rank *r)
{
    r->async = DAT_HANDLE_NULL;
    DAT_OK(dat_ia_open(rail, 8, &r->async, &r->ia));
    DAT_OK(dat_pz_create(r->ia, &r->pz));
    DAT_OK(dat_evd_create(r->ia, 1024, DAT_HANDLE_NULL,
                          (DAT_EVD_FLAGS)DAT_IB_EVD_EXTENSION_FLAG, &r->evd));
}

void create_member(struct rank *r)
{
    DAT_OK(dat_ib_collective_create_member(r->ia, NULL, &r->member,
                                           &r->info_bytes));
    assert_in_range(r->info_bytes, 1, INFO);
    memcpy(shared->info[r->rank], r->member, (size_t)r->info_bytes);
    meet(r);
    for (unsigned i = 0; i < r->size; i++)
        r->members[i] = shared->info[i];
}

DAT_IB_STATUS event_of(struct rank *r, DAT_EVD_HANDLE evd, DAT_IB_EXT_TYPE type,
                       uint64_t context)
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

DAT_CONTEXT context(uint64_t value)
{
    return (DAT_CONTEXT){.as_64 = value};
}

DAT_RETURN begin_group(struct rank *r, unsigned id,
                       DAT_IB_COLLECTIVE_GROUP *layout)
{
    return dat_ib_collective_create_group(r->members, (DAT_COUNT)r->size,
                                          r->rank, id, layout, r->evd, r->pz,
                                          context(1000 + id));
}

DAT_IB_STATUS group_status(struct rank *r, unsigned id)
{
    return event_of(r, r->evd, DAT_IB_COLLECTIVE_CREATE_DATA, 1000 + id);
}

void create_group(struct rank *r, unsigned id, unsigned per_node)
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

void open_all(struct rank *r)
{
    open_ia(r);
    create_member(r);
    create_group(r, 1, 1);
}

void close_ia(struct rank *r)
{
    DAT_OK(dat_evd_free(r->evd));
    DAT_OK(dat_pz_free(r->pz));
    DAT_OK(dat_ia_close(r->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

void close_all(struct rank *r)
{
    DAT_OK(dat_ib_collective_free_group(r->group));
    DAT_OK(dat_ib_collective_free_member(r->ia, r->member));
    close_ia(r);
}

unsigned run(unsigned size, void (*body)(struct rank *r))
{
    pid_t child[MOST];
    unsigned good = 0;
    atomic_store(&shared->arrived, 0);
    atomic_store(&shared->begun, 0);
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

void run_well(unsigned size, void (*body)(struct rank *r))
{
    assert_int_equal(run(size, body), size);
}

/* ---------------------------------------------------------------- calls --- */

void good(struct rank *r, DAT_IB_EXT_TYPE type, uint64_t value)
{
    assert_int_equal(event_of(r, r->evd, type, value), DAT_OP_SUCCESS);
}

static unsigned char byte_of(unsigned rank, size_t i)
{
    return (unsigned char)(rank * 37 + i * 11 + i / 251);
}

void fill_of(unsigned char *at, unsigned rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = byte_of(rank, i);
}

void check_of(const unsigned char *at, unsigned rank, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(rank, i))
            fail_msg("byte %zu of rank %u's %zu", i, rank, bytes);
}

void barriers(struct rank *r)
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
