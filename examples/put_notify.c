/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks: rank 0 puts a message, striped over all rails, into memory of
 * rank 1, which waits for the notification that comes after the data.
 *
 * cc put_notify.c $(pkg-config --cflags --libs dapl_rail)
 */
#include <dapl_rail/dapl_rail.h>
#include <stdio.h>
#include <string.h>

#define BYTES (1 << 20)

static int say(const char *what, int rc, const drail_t *rails)
{
    fprintf(stderr, "%s: %s: %s\n", what, drail_strerror(rc),
            rails ? drail_last_error(rails) : "");
    return 1;
}

/* Rank 1: sends the key of its memory, waits, checks the data. */
static int target(drail_t *rails, const unsigned char *memory,
                  const drail_key_t *key)
{
    uint32_t id;
    int rc = drail_send(rails, 0, key, sizeof *key, NULL);
    if (rc)
        return say("drail_send", rc, rails);
    rc = drail_notify_wait(rails, 0, &id, -1);
    if (rc)
        return say("drail_notify_wait", rc, rails);
    for (size_t i = 0; i < BYTES; i++)
        if (memory[i] != (unsigned char)(i * 7)) {
            fprintf(stderr, "wrong byte at %zu\n", i);
            return 1;
        }
    printf("rank 1: %d bytes arrived, notification %u\n", BYTES, id);
    return 0;
}

static int initiator(drail_t *rails, unsigned char *memory, drail_mem_t *mem)
{
    drail_key_t key;
    size_t received;
    drail_req_t req;
    int rc = drail_recv(rails, 1, &key, sizeof key, &received, -1);
    if (rc)
        return say("drail_recv", rc, rails);
    for (size_t i = 0; i < BYTES; i++)
        memory[i] = (unsigned char)(i * 7);

    drail_xfer_t put = {.local = memory,
                        .local_mem = mem,
                        .remote = &key,
                        .remote_offset = 0,
                        .bytes = BYTES};
    rc = drail_put(rails, 1, &put, DRAIL_NOTIFY, 42, &req);
    if (rc)
        return say("drail_put", rc, rails);
    rc = drail_wait(rails, &req, -1); /* from now on `memory` may be changed */
    if (rc)
        return say("drail_wait", rc, rails);
    for (unsigned r = 0; r < drail_nrails(rails); r++) {
        drail_rail_stats_t stats;
        drail_rail_stats(rails, r, &stats);
        printf("rank 0: %s carried %llu bytes\n", drail_rail_at(rails, r)->name,
               (unsigned long long)stats.put_bytes);
    }
    return 0;
}

static int rank_main(drail_job_t *job, void *arg)
{
    const drail_config_t *config = arg;
    unsigned rank = drail_job_rank(job);
    drail_error_t error;
    drail_t *rails;
    drail_mem_t *mem = NULL;
    drail_key_t key;
    void *memory;
    int status = 1;

    int rc = drail_open(job, config, &rails, &error);
    if (rc) {
        fprintf(stderr, "drail_open: %s\n", error.text);
        return 1;
    }
    rc = drail_connect(rails, 1 - rank);
    if (rc) {
        say("drail_connect", rc, rails);
        goto out;
    }
    rc =
        drail_mem_alloc(rails, BYTES, DRAIL_ACCESS_REMOTE_WRITE, &memory, &mem);
    if (rc) {
        say("drail_mem_alloc", rc, rails);
        goto out;
    }
    drail_mem_key(mem, &key);
    status = rank ? target(rails, memory, &key) : initiator(rails, memory, mem);
    drail_job_barrier(job, -1); /* no rank leaves while the other still works */
out:
    if (mem)
        drail_mem_release(mem);
    drail_close(rails);
    return status;
}

int main(void)
{
    drail_config_t config;
    drail_job_config_t job;
    drail_error_t error = {0};

    drail_config_init(&config); /* rails shm0 and shm1, or DRAIL_RAILS */
    drail_job_config_init(&job);
    job.nranks = 2;
    job.error = &error;
    if (drail_job_run(&job, rank_main, &config)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return 0;
}
