/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The stream of scripts/degrade-any over dapl_rail: notified puts, whose ids
 * are the slots. Rails, ranks and rendezvous are given as DRAIL_… variables.
 */
#include <stdlib.h>
#include <string.h>

#include "dapl_rail/dapl_rail.h"
#include "stream.h"

typedef struct library {
    stream_t stream;
    drail_t *rails;
    unsigned peer;
    drail_mem_t *mem;
    drail_key_t remote;
    drail_req_t requests[STREAM_SLOTS_MAX];
    bool sends[STREAM_SLOTS_MAX];
    bool came[STREAM_SLOTS_MAX];
    int code;
} library_t;

/* ------------------------------------------------------------- stream --- */

static int told(library_t *l, int rc)
{
    if (rc == DRAIL_EAGAIN)
        return 0;
    l->code = rc;
    return rc ? -1 : 1;
}

static int rails_send(void *library, unsigned slot, size_t bytes)
{
    library_t *l = library;
    drail_xfer_t xfer = {.local = stream_slot(&l->stream, slot),
                         .local_mem = l->mem,
                         .remote = &l->remote,
                         .remote_offset = slot * l->stream.stride,
                         .bytes = bytes};
    l->sends[slot] = true;
    return told(l,
                drail_put(l->rails, l->peer, &xfer, DRAIL_NOTIFY | DRAIL_NOWAIT,
                          slot, &l->requests[slot]));
}

/* Puts need none. */
static int rails_receive(void *library, unsigned slot)
{
    (void)library, (void)slot;
    return 1;
}

static int take_notifications(library_t *l)
{
    uint32_t id;
    int rc;
    while ((rc = told(l, drail_notify_wait(l->rails, l->peer, &id, 0))) > 0)
        if (id < l->stream.slots)
            l->came[id] = true;
    return rc;
}

static int rails_test(void *library, unsigned slot)
{
    library_t *l = library;
    if (l->sends[slot])
        return told(l, drail_test(l->rails, &l->requests[slot]));
    if (!l->came[slot] && take_notifications(l) < 0)
        return -1;
    bool came = l->came[slot];
    l->came[slot] = false;
    return came;
}

static const char *rails_error(void *library)
{
    library_t *l = library;
    const char *said = drail_last_error(l->rails);
    return said && *said ? said : drail_strerror(l->code);
}

static const stream_ops_t ops = {rails_send, rails_receive, rails_test,
                                 rails_error};

/* -------------------------------------------------------------- start --- */

static int exchange_keys(library_t *l, drail_job_t *job)
{
    drail_key_t mine, both[2];
    drail_mem_key(l->mem, &mine);
    int rc = drail_job_allgather(job, &mine, sizeof mine, both, -1);
    l->remote = both[l->peer];
    return rc ? rc : drail_connect(l->rails, l->peer);
}

static int rank_main(drail_job_t *job, void *library)
{
    library_t *l = library;
    drail_config_t config;
    drail_error_t error = {0};
    void *memory;
    int rank = (int)drail_job_rank(job);

    drail_config_init(&config);
    l->peer = (unsigned)(1 - rank);
    if (drail_open(job, &config, &l->rails, &error))
        stream_die("drail_open", error.text);
    int rc = drail_mem_alloc(l->rails, stream_capacity(&l->stream),
                             DRAIL_ACCESS_REMOTE_WRITE, &memory, &l->mem);
    if (rc)
        stream_die("drail_mem_alloc", drail_last_error(l->rails));
    l->stream.memory = memset(memory, 0, stream_capacity(&l->stream));
    if (exchange_keys(l, job))
        stream_die("drail_connect", drail_last_error(l->rails));
    if (rank == 0) {
        puts("# dapl_rail " DRAIL_VERSION);
        fflush(stdout);
    }
    int status = stream_run(&l->stream, rank, &ops, l);
    if (!status)
        drail_job_barrier(job, -1);
    drail_mem_release(l->mem);
    drail_close(l->rails);
    return status;
}

int main(int argc, char **argv)
{
    library_t l = {0};
    drail_job_config_t job;
    drail_error_t error = {0};
    stream_parse(&l.stream, argc, argv);
    drail_job_config_init(&job);
    job.nranks = 2;
    job.error = &error;
    if (drail_job_run(&job, rank_main, &l)) {
        fprintf(stderr, "stream_drail: %s\n", error.text);
        return 1;
    }
    return 0;
}
