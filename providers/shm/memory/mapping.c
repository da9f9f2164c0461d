/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/shm/memory/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MAPS "/proc/self/maps"

/* As <linux/fs.h> has it since Linux 6.11 (PROCMAP_QUERY). */
struct query {
    uint64_t size, flags, address;
    uint64_t start, end, vma_flags, page_size, offset, inode;
    uint32_t major, minor, name_size, build_id_size;
    uint64_t name, build_id;
};
#define QUERY   _IOWR('f', 17, struct query)
#define READ    1u
#define WRITE   2u
#define EXEC    4u
#define SHARED  8u
#define OR_NEXT 16u

/* Is all of the range shared memory of a file, in this mapping? */
static bool is_within(const struct shm_vma *v, uint64_t base, uint64_t length,
                      struct shm_mapping *m)
{
    if (!shm_vma_covers(v, base, length) || !v->inode || !v->shared ||
        v->prot != (PROT_READ | PROT_WRITE))
        return false;
    m->offset = v->offset + (base - v->start);
    m->device = v->device;
    m->inode = v->inode;
    return true;
}

int shm_maps_open(void)
{
    return open(MAPS, O_RDONLY | O_CLOEXEC);
}

int shm_vma_from(int maps, uint64_t address, struct shm_vma *vma)
{
    struct query q = {.size = sizeof q, .flags = OR_NEXT, .address = address};
    if (ioctl(maps, QUERY, &q))
        return errno == ENOENT ? 0 : -1; /* no mapping; else: no such call */
    *vma = (struct shm_vma){
        .start = q.start,
        .end = q.end,
        .offset = q.offset,
        .device = makedev(q.major, q.minor),
        .inode = (ino_t)q.inode,
        .prot = (q.vma_flags & READ ? PROT_READ : 0) |
                (q.vma_flags & WRITE ? PROT_WRITE : 0) |
                (q.vma_flags & EXEC ? PROT_EXEC : 0),
        .shared = q.vma_flags & SHARED,
    };
    return 1;
}

bool shm_vma_is_stack(int maps, uint64_t address)
{
    char name[16] = "";
    struct query q = {.size = sizeof q,
                      .address = address,
                      .name_size = sizeof name,
                      .name = (uintptr_t)name};
    if (ioctl(maps, QUERY, &q))
        return errno != ENAMETOOLONG; /* that of a file, for instance */
    return !strcmp(name, "[stack]");
}

int shm_mapping_ask(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    struct shm_vma v;
    int maps = shm_maps_open();
    if (maps < 0)
        return -1;
    int found = shm_vma_from(maps, base, &v);
    close(maps);
    return found > 0 ? is_within(&v, base, length, m) : found;
}

int shm_mapping_read(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    FILE *maps = fopen(MAPS, "re");
    char line[512];
    bool found = false, within = false;
    if (!maps)
        return -1;
    while (!found && fgets(line, sizeof line, maps)) {
        struct shm_vma v = {0};
        unsigned major, minor;
        char perms[5];
        if (sscanf(line,
                   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
                   &v.start, &v.end, perms, &v.offset, &major, &minor,
                   &v.inode) != 7 ||
            base < v.start || base >= v.end)
            continue;
        found = true;
        v.device = makedev(major, minor);
        v.shared = !strcmp(perms, "rw-s");
        v.prot = PROT_READ | PROT_WRITE;
        within = is_within(&v, base, length, m);
    }
    fclose(maps);
    return within;
}

bool shm_mapping_find(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    int found = shm_mapping_ask(base, length, m);
    return (found < 0 ? shm_mapping_read(base, length, m) : found) > 0;
}
