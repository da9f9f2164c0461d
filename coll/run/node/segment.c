/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "coll/dcoll.h"
#include "coll/run/node/segment.h"
#include "dapl_rail/platform/resize.h"

#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int segment_map(struct segment *s)
{
    void *p =
        mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (p == MAP_FAILED)
        return DRAIL_ENOMEM;
    s->base = p;
    return 0;
}

int segment_create(struct segment *s, size_t bytes,
                   struct segment_locator *locator)
{
    struct stat st;
    *s = SEGMENT_NONE;
    s->bytes = bytes;
    s->fd = memfd_create("dcoll-node", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0 || fchmod(s->fd, 0600) || file_resize(s->fd, bytes) ||
        fcntl(s->fd, F_ADD_SEALS, SEALS) || fstat(s->fd, &st) ||
        segment_map(s)) {
        segment_close(s);
        return DRAIL_ENOMEM;
    }
    *locator = (struct segment_locator){
        .pid = getpid(), .fd = s->fd, .inode = st.st_ino};
    return 0;
}

static bool is_sealed(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & SEALS) == SEALS;
}

int segment_attach(struct segment *s, size_t bytes,
                   const struct segment_locator *locator)
{
    char path[64];
    struct stat st;
    int rc = DRAIL_EPEER;
    *s = SEGMENT_NONE;
    s->bytes = bytes;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)locator->pid,
             locator->fd);
    s->fd = open(path, O_RDWR | O_CLOEXEC);
    /* the descriptor may have been closed and its number reused */
    if (s->fd >= 0 && !fstat(s->fd, &st) && st.st_ino == locator->inode &&
        st.st_size == (off_t)bytes && is_sealed(s->fd))
        rc = segment_map(s);
    if (rc)
        segment_close(s);
    return rc;
}

void segment_close_file(struct segment *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

void segment_close(struct segment *s)
{
    if (s->base)
        munmap(s->base, s->bytes);
    segment_close_file(s);
    *s = SEGMENT_NONE;
}
