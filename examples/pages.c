/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sketch of page-based distributed shared memory, as below Cluster OpenMP:
 * rank 0 is the home of all pages; the others fetch a page by an RDMA read,
 * change it, write it back by an RDMA write with a notification, and take
 * turns on a page by a lock (a remote compare-and-swap).
 *
 * Every rank adds its number to each word of each page. At the end the home
 * finds the sum of all ranks everywhere.
 *
 * cc pages.c $(pkg-config --cflags --libs dapl_rail)
 */
#include <dapl_rail/dapl_rail.h>
#include <stdio.h>
#include <stdlib.h>

#define RANKS      3
#define PAGES      8
#define PAGE_BYTES 65536
#define WORDS      (PAGE_BYTES / sizeof(uint64_t))

/* What the home keeps: a lock for each page, then the pages. */
typedef struct space {
    uint64_t lock[PAGES];
    uint64_t page[PAGES][WORDS];
} space_t;

/* One rank's view. */
typedef struct dsm {
    drail_job_t *job;
    drail_t *rails;
    drail_mem_t *mem; /* home: the space; others: a copy of one page */
    void *memory;
    drail_key_t space; /* of the home */
} dsm_t;

/* Ends the rank with a message unless the call was successful. */
static void must(const dsm_t *dsm, const char *what, int rc)
{
    if (rc == 0)
        return;
    fprintf(stderr, "rank %u: %s: %s: %s\n", drail_job_rank(dsm->job), what,
            drail_strerror(rc), drail_last_error(dsm->rails));
    exit(1);
}

static drail_xfer_t page_transfer(const dsm_t *dsm, unsigned page)
{
    return (drail_xfer_t){.local = dsm->memory,
                          .local_mem = dsm->mem,
                          .remote = &dsm->space,
                          .remote_offset = offsetof(space_t, page[page]),
                          .bytes = PAGE_BYTES};
}

static void lock(dsm_t *dsm, unsigned page, uint64_t from, uint64_t to)
{
    uint64_t old;
    do
        must(dsm, "drail_atomic",
             drail_atomic(dsm->rails, 0, DRAIL_CMP_SWAP, &dsm->space,
                          offsetof(space_t, lock[page]), to, from, &old));
    while (old != from);
}

static void change_page(dsm_t *dsm, unsigned page)
{
    drail_req_t req;
    drail_xfer_t xfer = page_transfer(dsm, page);
    uint64_t *word = dsm->memory;
    uint64_t mine = drail_job_rank(dsm->job);

    lock(dsm, page, 0, mine);
    must(dsm, "drail_get", drail_get(dsm->rails, 0, &xfer, 0, &req));
    must(dsm, "drail_wait", drail_wait(dsm->rails, &req, -1));
    for (size_t i = 0; i < WORDS; i++)
        word[i] += mine;
    must(dsm, "drail_put",
         drail_put(dsm->rails, 0, &xfer, DRAIL_NOTIFY, page, &req));
    must(dsm, "drail_wait", drail_wait(dsm->rails, &req, -1));
    /* the home says that it has seen the page: only then another may read it */
    must(dsm, "drail_notify_wait", drail_notify_wait(dsm->rails, 0, NULL, -1));
    lock(dsm, page, mine, 0);
}

/* The home answers each write-back; the data moves without it. */
static int serve(dsm_t *dsm)
{
    const space_t *space = dsm->memory;
    unsigned left = (RANKS - 1) * PAGES;
    while (left) {
        for (unsigned rank = 1; rank < RANKS; rank++) {
            uint32_t page;
            int rc = drail_notify_wait(dsm->rails, rank, &page, 0);
            if (rc == DRAIL_EAGAIN)
                continue;
            must(dsm, "drail_notify_wait", rc);
            must(dsm, "drail_notify", drail_notify(dsm->rails, rank, 0, page));
            left--;
        }
    }
    uint64_t sum = RANKS * (RANKS - 1) / 2;
    for (unsigned page = 0; page < PAGES; page++)
        for (size_t i = 0; i < WORDS; i++)
            if (space->page[page][i] != sum) {
                fprintf(stderr, "page %u word %zu is wrong\n", page, i);
                return 1;
            }
    printf("%d pages of %d bytes, changed by %d ranks: all right\n", PAGES,
           PAGE_BYTES, RANKS - 1);
    return 0;
}

static int rank_main(drail_job_t *job, void *arg)
{
    dsm_t dsm = {.job = job};
    drail_key_t mine, all[RANKS];
    drail_error_t error;
    unsigned rank = drail_job_rank(job);
    int status = 0;

    if (drail_open(job, arg, &dsm.rails, &error)) {
        fprintf(stderr, "drail_open: %s\n", error.text);
        return 1;
    }
    for (unsigned peer = 0; peer < RANKS; peer++)
        if (peer != rank && (peer == 0 || rank == 0))
            must(&dsm, "drail_connect", drail_connect(dsm.rails, peer));
    must(&dsm, "drail_mem_alloc",
         drail_mem_alloc(dsm.rails, rank ? PAGE_BYTES : sizeof(space_t),
                         DRAIL_ACCESS_ALL, &dsm.memory, &dsm.mem));
    drail_mem_key(dsm.mem, &mine);
    must(&dsm, "drail_job_allgather",
         drail_job_allgather(job, &mine, sizeof mine, all, -1));
    dsm.space = all[0];

    if (rank == 0)
        status = serve(&dsm);
    else
        for (unsigned i = 0; i < PAGES; i++)
            change_page(&dsm, (i + rank) % PAGES);
    must(&dsm, "drail_job_barrier", drail_job_barrier(job, -1));
    drail_mem_release(dsm.mem);
    drail_close(dsm.rails);
    return status;
}

int main(void)
{
    drail_config_t config;
    drail_job_config_t job;
    drail_error_t error = {0};

    drail_config_init(&config);
    drail_job_config_init(&job);
    job.nranks = RANKS;
    job.error = &error;
    if (drail_job_run(&job, rank_main, &config)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    return 0;
}
