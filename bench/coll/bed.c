/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "bed.h"

static int failed(drail_error_t *err, int rc, const char *why)
{
    err->code = rc;
    snprintf(err->text, sizeof err->text, "%s", why);
    return rc;
}

static size_t size_of(size_t bytes)
{
    return (bytes > COLL_BED_MIN ? bytes : COLL_BED_MIN) + 2 * COLL_GUARD;
}

/* Touches every page before anything is timed; without payload, marks the
 * buffer, and no page is ever touched. */
static int touch(const coll_bed_t *bed, void *memory, size_t size,
                 drail_error_t *err)
{
    if (!platform_is_hollow(bed->platform)) {
        memset(memory, 1, size);
        return 0;
    }
    int rc = platform_hollow(bed->platform, memory, size, true);
    return rc ? failed(err, rc, "no memory to note a buffer without payload")
              : 0;
}

static int allocate(coll_bed_t *bed, size_t bytes, unsigned access,
                    uint8_t **buffer, drail_mem_t **mem, drail_error_t *err)
{
    void *memory;
    size_t size = size_of(bytes);
    int rc = drail_mem_alloc(bed->rail, size, access, &memory, mem);
    if (rc)
        return failed(err, rc, drail_last_error(bed->rail));
    *buffer = (uint8_t *)memory + COLL_GUARD;
    return touch(bed, memory, size, err);
}

static int allocate_plain(const coll_bed_t *bed, size_t bytes,
                          coll_plain_t *plain, drail_error_t *err)
{
    size_t size = size_of(bytes);
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return failed(err, DRAIL_ENOMEM, "no memory for the buffers");
    *plain = (coll_plain_t){(uint8_t *)memory + COLL_GUARD, size};
    return touch(bed, memory, size, err);
}

static void release_plain(const coll_bed_t *bed, const coll_plain_t *plain)
{
    if (!plain->size)
        return;
    void *memory = plain->at - COLL_GUARD;
    platform_hollow(bed->platform, memory, plain->size, false);
    munmap(memory, plain->size);
}

static int allocate_calls(coll_bed_t *bed, const coll_plan_t *plan,
                          drail_error_t *err)
{
    bool blocking = false;
    for (unsigned i = 0; i < plan->count; i++)
        blocking |= plan->setups[i].call == CALL_BLOCKING;
    if (!blocking)
        return 0;
    int rc = allocate_plain(bed, coll_send_bytes(plan, bed->rank),
                            &bed->plain_send, err);
    return rc ? rc
              : allocate_plain(bed, coll_recv_bytes(plan, bed->rank),
                               &bed->plain_recv, err);
}

static void release(const coll_bed_t *bed, drail_mem_t *mem)
{
    drail_key_t key;
    if (!mem)
        return;
    drail_mem_key(mem, &key);
    /* the memory can be unmapped even if this fails */
    platform_hollow(bed->platform, (void *)(uintptr_t)key.address, key.bytes,
                    false);
    drail_mem_release(mem);
}

int coll_bed_open(coll_bed_t *bed, drail_job_t *job, const coll_plan_t *plan,
                  const pinning_t *pinning, drail_error_t *err)
{
    drail_config_t cfg;
    unsigned rank = drail_job_rank(job);
    *bed = (coll_bed_t){.rank = rank, .platform = drail_job_platform(job)};
    session_config(&cfg, plan->opts, pinning);
    int rc = drail_open(job, &cfg, &bed->rail, err);
    if (rc)
        return rc;
    /* ranks of a node read irregular parts directly from each other */
    unsigned access = plan->collective == DCOLL_ALLTOALLV
                          ? DRAIL_ACCESS_REMOTE_READ
                          : DRAIL_ACCESS_LOCAL;
    rc = allocate(bed, coll_send_bytes(plan, rank), access, &bed->send,
                  &bed->send_mem, err);
    if (!rc)
        rc = allocate(bed, coll_recv_bytes(plan, rank),
                      DRAIL_ACCESS_REMOTE_WRITE, &bed->recv, &bed->recv_mem,
                      err);
    return rc ? rc : allocate_calls(bed, plan, err);
}

int coll_bed_team(coll_bed_t *bed, drail_job_t *job, const coll_plan_t *plan,
                  zero_copy_t zero_copy, drail_error_t *err)
{
    dcoll_config_t cfg;
    dcoll_config_init(&cfg);
    cfg.ports = plan->shape.ports;
    cfg.port_begin = plan->opts->rank_ports ? plan->port_begin : NULL;
    cfg.groups = (unsigned)plan->opts->groups;
    cfg.paced = plan->opts->paced;
    cfg.zero_copy_bytes = coll_zero_copy_bytes(zero_copy);
    cfg.table = plan->table_path;
    return dcoll_team_create(job, bed->rail, &cfg, &bed->team, err);
}

void coll_bed_close(coll_bed_t *bed)
{
    dcoll_team_free(bed->team);
    release(bed, bed->send_mem);
    release(bed, bed->recv_mem);
    release_plain(bed, &bed->plain_send);
    release_plain(bed, &bed->plain_recv);
    drail_close(bed->rail);
}

int coll_bed_switch(coll_bed_t *bed, const setup_t *setup)
{
    int rc = drail_set_policy(bed->rail, setup->policy, NULL, setup->rail);
    return rc ? rc : drail_set_engine(bed->rail, setup->engine, setup->team);
}

uint8_t *coll_bed_send(const coll_bed_t *bed, const coll_setup_t *setup)
{
    return setup->call == CALL_BLOCKING ? bed->plain_send.at : bed->send;
}

uint8_t *coll_bed_recv(const coll_bed_t *bed, const coll_setup_t *setup)
{
    return setup->call == CALL_BLOCKING ? bed->plain_recv.at : bed->recv;
}

dcoll_call_t coll_bed_call(const coll_bed_t *bed, const coll_plan_t *plan,
                           const coll_setup_t *setup, size_t bytes)
{
    bool sends = coll_send_blocks(plan, bed->rank);
    bool receives = coll_recv_blocks(plan, bed->rank);
    const unequal_t *unequal = unequal_of(&plan->unequal, bytes);
    /* gather and reduce are in place only at the root, the only rank that
     * receives */
    const void *send = sends ? coll_bed_send(bed, setup) : NULL;
    return (dcoll_call_t){
        .collective = plan->collective,
        .send = plan->opts->in_place && receives ? DCOLL_IN_PLACE : send,
        .recv = receives ? coll_bed_recv(bed, setup) : NULL,
        .bytes = bytes,
        .counts = unequal ? unequal->counts : NULL,
        .root = (unsigned)plan->opts->root,
        .algorithm = coll_setup_algorithm(setup),
        .reduction = coll_plan_reduction(plan),
    };
}
