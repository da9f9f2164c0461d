/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Mapping the segment of a connection. Each ring is mapped twice in a row, so
 * that a message never has to be split at the end of the ring.
 */
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dapl_rail/platform/memfd.h"
#include "providers/shm/connection.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/shm.h"

#define BACKLOGS    (SHM_PAGE + 4 * SHM_RING_BYTES) /* offset of their mapping */
#define MAPPED_SIZE (BACKLOGS + 2 * SHM_BACKLOG_BYTES)

static const uint64_t sample = SHM_MAGIC;

/* Maps zeros, which take no memory. */
static void *map_nothing(void *where, int fixed)
{
    return mmap(where, MAPPED_SIZE, PROT_READ,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
}

int shm_segment_place(struct shm_conn *c, int side)
{
    char *base = map_nothing(NULL, 0);
    if (base == MAP_FAILED)
        return -1;
    struct shm_segment *segment = (struct shm_segment *)base;
    c->place = base;
    c->tx = &segment->dir[side];
    c->rx = &segment->dir[!side];
    c->tx_ring = base + SHM_PAGE + side * 2 * SHM_RING_BYTES;
    c->rx_ring = base + SHM_PAGE + !side * 2 * SHM_RING_BYTES;
    c->tx_backlog = base + BACKLOGS + side * SHM_BACKLOG_BYTES;
    c->rx_backlog = base + BACKLOGS + !side * SHM_BACKLOG_BYTES;
    return 0;
}

int shm_segment_create(struct shm_conn *c)
{
    c->segment_fd = memfd_sealed("dapl-shm-connection", SHM_SEGMENT_SIZE);
    if (c->segment_fd < 0 || shm_segment_map(c))
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

int shm_segment_map(struct shm_conn *c)
{
    char *base = c->place;
    int err = map_at(base, SHM_PAGE, c->segment_fd, 0);
    for (int i = 0; i < 4; i++)
        err |= map_at(base + SHM_PAGE + i * SHM_RING_BYTES, SHM_RING_BYTES,
                      c->segment_fd, SHM_PAGE + (i / 2) * SHM_RING_BYTES);
    err |= map_at(base + BACKLOGS, 2 * SHM_BACKLOG_BYTES, c->segment_fd,
                  SHM_PAGE + 2 * SHM_RING_BYTES);
    if (err) {
        map_nothing(base, MAP_FIXED);
        return -1;
    }
    c->segment = (struct shm_segment *)base;
    atomic_store(&c->tx->sample, (uintptr_t)&sample);
    atomic_store(&c->rx->can_fence, core_fence_asymmetric);
    return 0;
}

/* Can this process read the peer's private memory? */
static bool read_sample(const struct shm_conn *c)
{
    uint64_t found = 0;
    struct iovec here = {&found, sizeof found};
    struct iovec there = {(void *)(uintptr_t)atomic_load(&c->rx->sample),
                          sizeof found};
    return process_vm_readv(c->peer->pid, &here, 1, &there, 1, 0) ==
               sizeof found &&
           found == SHM_MAGIC;
}

void shm_segment_agree(struct shm_conn *c)
{
    atomic_store(&c->rx->can_read, read_sample(c));
    c->fenced = !core_fence_asymmetric || !atomic_load(&c->tx->can_fence);
}

void shm_segment_unmap(struct shm_conn *c)
{
    /* It can hardly fail. If it does, the old segment stays mapped until the
     * next one. */
    if (c->segment)
        map_nothing(c->place, MAP_FIXED);
    c->segment = NULL;
    if (c->segment_fd >= 0)
        close(c->segment_fd);
    c->segment_fd = -1;
}
