/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/shm/memory/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
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
#define QUERY  _IOWR('f', 17, struct query)
#define READ   1u
#define WRITE  2u
#define EXEC   4u
#define SHARED 8u

/* The mapping covers the range's first byte: all of it? */
static bool is_within(const struct query *q, uint64_t base, uint64_t length,
                      struct shm_mapping *m)
{
    if (length > q->end - base || !q->inode ||
        (q->vma_flags & (READ | WRITE | EXEC | SHARED)) !=
            (READ | WRITE | SHARED))
        return false;
    m->offset = q->offset + (base - q->start);
    m->device = makedev(q->major, q->minor);
    m->inode = (ino_t)q->inode;
    return true;
}

int shm_mapping_ask(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    struct query q = {.size = sizeof q, .address = base};
    int fd = open(MAPS, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int err = ioctl(fd, QUERY, &q) ? errno : 0;
    close(fd);
    if (err)
        return err == ENOENT ? 0 : -1; /* no mapping; else: no such call */
    return is_within(&q, base, length, m);
}

int shm_mapping_read(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    FILE *maps = fopen(MAPS, "re");
    char line[512];
    bool found = false, within = false;
    if (!maps)
        return -1;
    while (!found && fgets(line, sizeof line, maps)) {
        struct query q = {0};
        char perms[5];
        if (sscanf(line,
                   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64,
                   &q.start, &q.end, perms, &q.offset, &q.major, &q.minor,
                   &q.inode) != 7 ||
            base < q.start || base >= q.end)
            continue;
        found = true;
        q.vma_flags = strcmp(perms, "rw-s") ? 0 : READ | WRITE | SHARED;
        within = is_within(&q, base, length, m);
    }
    fclose(maps);
    return within;
}

bool shm_mapping_find(uint64_t base, uint64_t length, struct shm_mapping *m)
{
    int found = shm_mapping_ask(base, length, m);
    return (found < 0 ? shm_mapping_read(base, length, m) : found) > 0;
}
