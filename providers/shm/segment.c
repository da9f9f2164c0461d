/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The segment of a connection: one page of counters, two rings, two backlogs.
 * Each ring is mapped twice in a row, so that a message never has to be split
 * at its end.
 */
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "shm.h"

#define BACKLOGS    (SHM_PAGE + 4 * SHM_RING_BYTES) /* where they are mapped */
#define MAPPED_SIZE (BACKLOGS + 2 * SHM_BACKLOG_BYTES)

static const uint64_t sample = SHM_MAGIC;

int shm_segment_create(struct shm_conn *c)
{
    c->segment_fd = shm_memfd("dapl-shm-connection", SHM_SEGMENT_SIZE);
    if (c->segment_fd < 0)
        return -1;
    if (shm_segment_map(c, 0))
        return -1;
    c->segment->version = SHM_VERSION;
    c->segment->magic = SHM_MAGIC;
    for (int side = 0; side < 2; side++)
        atomic_init(&c->segment->dir[side].min_capacity, UINT64_MAX);
    return 0;
}

static int map_at(char *where, size_t size, int fd, size_t offset)
{
    void *p = mmap(where, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                   fd, (off_t)offset);
    return p == MAP_FAILED ? -1 : 0;
}

int shm_segment_map(struct shm_conn *c, int side)
{
    char *base =
        mmap(NULL, MAPPED_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED)
        return -1;
    int err = map_at(base, SHM_PAGE, c->segment_fd, 0);
    for (int i = 0; i < 4; i++)
        err |= map_at(base + SHM_PAGE + i * SHM_RING_BYTES, SHM_RING_BYTES,
                      c->segment_fd, SHM_PAGE + (i / 2) * SHM_RING_BYTES);
    err |= map_at(base + BACKLOGS, 2 * SHM_BACKLOG_BYTES, c->segment_fd,
                  SHM_PAGE + 2 * SHM_RING_BYTES);
    if (err) {
        munmap(base, MAPPED_SIZE);
        return -1;
    }
    c->segment = (struct shm_segment *)base;
    c->tx = &c->segment->dir[side];
    c->rx = &c->segment->dir[!side];
    c->tx_ring = base + SHM_PAGE + side * 2 * SHM_RING_BYTES;
    c->rx_ring = base + SHM_PAGE + !side * 2 * SHM_RING_BYTES;
    c->tx_backlog = base + BACKLOGS + side * SHM_BACKLOG_BYTES;
    c->rx_backlog = base + BACKLOGS + !side * SHM_BACKLOG_BYTES;
    atomic_store(&c->tx->sample, (uintptr_t)&sample);
    return 0;
}

void shm_segment_try_reading(struct shm_conn *c)
{
    uint64_t found = 0;
    struct iovec here = {&found, sizeof found};
    struct iovec there = {(void *)(uintptr_t)atomic_load(&c->rx->sample),
                          sizeof found};
    bool read = process_vm_readv(c->peer->pid, &here, 1, &there, 1, 0) ==
                    sizeof found &&
                found == SHM_MAGIC;
    atomic_store(&c->rx->can_read, read);
}

void shm_segment_unmap(struct shm_conn *c)
{
    if (c->segment)
        munmap(c->segment, MAPPED_SIZE);
    c->segment = NULL;
    if (c->segment_fd >= 0)
        close(c->segment_fd);
    c->segment_fd = -1;
}
