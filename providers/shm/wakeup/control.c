/* SPDX-License-Identifier: BSD-3-Clause */
/* The control segment: making, mapping and leaving it. */
#include <sys/mman.h>
#include <unistd.h>

#include "dapl_rail/platform/memfd.h"
#include "providers/shm/shm.h"

int shm_control_map(int fd, struct shm_control *control, bool own)
{
    void *door =
        mmap(NULL, SHM_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (door == MAP_FAILED)
        return -1;
    void *table = mmap(NULL, SHM_CONTROL_SIZE - SHM_PAGE,
                       own ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
                       SHM_PAGE);
    if (table == MAP_FAILED) {
        munmap(door, SHM_PAGE);
        return -1;
    }
    control->door = door;
    control->table = table;
    return 0;
}

void shm_control_unmap(struct shm_control *control)
{
    munmap(control->door, SHM_PAGE);
    munmap(control->table, SHM_CONTROL_SIZE - SHM_PAGE);
}

int shm_control_create(struct shm_ia *sia)
{
    if (SHM_PAGE % sysconf(_SC_PAGESIZE))
        return -1; /* the kernel has larger pages than SHM_PAGE */
    sia->control_fd = memfd_sealed("dapl-shm-control", SHM_CONTROL_SIZE);
    if (sia->control_fd < 0)
        return -1;
    if (shm_control_map(sia->control_fd, &sia->control, true)) {
        close(sia->control_fd);
        return -1;
    }
    sia->control.door->magic = SHM_MAGIC;
    sia->control.door->version = SHM_VERSION;
    return 0;
}

void shm_control_destroy(struct shm_ia *sia)
{
    shm_control_unmap(&sia->control);
    close(sia->control_fd);
}

/* Private pages in place of the shared ones. */
void shm_control_forked(struct shm_ia *sia)
{
    struct shm_control *c = &sia->control;
    const int prot = PROT_READ | PROT_WRITE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    mmap(c->door, SHM_PAGE, prot, flags, -1, 0);
    mmap(c->table, SHM_CONTROL_SIZE - SHM_PAGE, prot, flags, -1, 0);
}
