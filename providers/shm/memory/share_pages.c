/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads and system calls that touch pages on their way wait in the kernel
 * (userfaultfd) until the pages are in their new place.
 *
 *  private → memfd   The pages are moved out (UFFDIO_MOVE), which fails if the
 *                    kernel or a device has pinned one, then copied into the
 *                    memfd, which is mapped in their place. The mapping that
 *                    they leave is kept aside, for its advice and policy.
 *  memfd → private   The pages are write-protected, copied into that mapping,
 *                    and it is put in their place.
 *
 * Pages that were never touched stay so. One call of mmap or mremap replaces
 * the mapping, under the kernel's lock of all mappings.
 *
 * A thread that waits for a page may hold any lock, that of malloc, for
 * instance. So, while pages are on their way, this thread uses nothing but its
 * stack and system calls, by syscall(): no wrapper of a sanitizer is called.
 */
#include "providers/shm/memory/share_pages.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <limits.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dapl_rail/platform/memfd.h"
#include "providers/shm/memory/mapping.h"

#define PIECE      1048576u /* bytes that are moved at one time */
#define MOVE_TRIES 100
/* The consumer may enlarge the mapping by mremap. The new pages must exist, as
 * they do in private memory. No mapping has as many bytes as this. */
#define GROWTH (UINT64_C(1) << 47)

/* As <linux/userfaultfd.h> has it since Linux 6.8. */
struct uffd_move {
    uint64_t to, from, length, mode;
    int64_t moved;
};
#define UFFD_MOVE         _IOWR(UFFDIO, 0x05, struct uffd_move)
#define UFFD_MOVE_FEATURE (UINT64_C(1) << 16)
#define UFFD_MOVE_HOLES   UINT64_C(2)
#define UFFD_FEATURES     (UFFD_MOVE_FEATURE | UFFD_FEATURE_WP_HUGETLBFS_SHMEM)
#define UFFD_NEW          _IO(0xAA, 0x00) /* of /dev/userfaultfd */

/* As <linux/fs.h> has it since Linux 6.7 (PAGEMAP_SCAN). */
struct run { /* pages next to each other */
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, runs, run_count, page_max;
    uint64_t inverted, all_of, any_of, wanted;
};
#define SCAN      _IOWR('f', 16, struct scan)
#define PRESENT   UINT64_C(8)
#define SWAPPED   UINT64_C(16)
#define ZERO_PAGE UINT64_C(32)

/* They refer to the memory of the process that opened them, in a forked child,
 * too. */
struct descriptors {
    int uffd, maps, pagemap;
};

/* Open from the first shm_share_pages() on. When shm_unshare_pages() needs
 * them, the process may have no descriptor left, or no permission any more. */
static struct descriptors kept = {-1, -1, -1};

/* A copy on the stack of the thread that moves pages. */
struct tools {
    struct descriptors of;
    char *staging; /* PIECE bytes, where moved pages are copied from */
};

static uint64_t min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* -------------------------------------------------------- system calls --- */

static int sys_ioctl(int fd, unsigned long request, void *argument)
{
    return (int)syscall(SYS_ioctl, fd, request, argument);
}

static void *sys_mremap(void *from, uint64_t length, uint64_t new_length,
                        int flags, void *to)
{
    return (void *)syscall(SYS_mremap, from, length, new_length,
                           MREMAP_MAYMOVE | flags, to);
}

static int watch(int uffd, uint64_t at, uint64_t length, uint64_t mode)
{
    struct uffdio_register r = {.range = {at, length}, .mode = mode};
    return sys_ioctl(uffd, UFFDIO_REGISTER, &r);
}

/* Threads that wait for these pages go on. */
static void unwatch(int uffd, uint64_t at, uint64_t length)
{
    struct uffdio_range range = {at, length};
    sys_ioctl(uffd, UFFDIO_UNREGISTER, &range);
}

static void wake(int uffd, uint64_t at, uint64_t length)
{
    struct uffdio_range range = {at, length};
    sys_ioctl(uffd, UFFDIO_WAKE, &range);
}

/* Returns how many bytes have been moved. Fewer than `length`: a page could not
 * be moved in so many tries; it is pinned. */
static uint64_t move(int uffd, uint64_t to, uint64_t from, uint64_t length,
                     unsigned tries)
{
    uint64_t done = 0;
    while (done < length && tries--) {
        struct uffd_move m = {to + done, from + done, length - done,
                              UFFD_MOVE_HOLES, 0};
        if (!sys_ioctl(uffd, UFFD_MOVE, &m))
            return length;
        if (m.moved > 0)
            done += (uint64_t)m.moved;
        else if (m.moved == -EAGAIN || m.moved == -ENOMEM)
            syscall(SYS_sched_yield);
        else
            break;
    }
    return done;
}

/* Finds the next pages from `at` on that hold data. 1: they are *run; 0: there
 * are none; -1: the kernel refuses. */
static int next_run(int pagemap, uint64_t at, uint64_t end, struct run *run)
{
    struct scan s = {.size = sizeof s,
                     .start = at,
                     .end = end,
                     .runs = (uintptr_t)run,
                     .run_count = 1,
                     .inverted = ZERO_PAGE,
                     .all_of = ZERO_PAGE,
                     .any_of = PRESENT | SWAPPED,
                     .wanted = PRESENT};
    return sys_ioctl(pagemap, SCAN, &s);
}

/* --------------------------------------------------------------- tools --- */

static int uffd_open(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURES};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
    if (fd < 0) {
        int device = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
        fd = device < 0 ? -1 : ioctl(device, UFFD_NEW, O_CLOEXEC);
        if (device >= 0)
            close(device);
    }
    if (fd < 0)
        errno = EPERM;
    else if (ioctl(fd, UFFDIO_API, &api)) {
        close(fd);
        errno = ENOSYS;
        return -1;
    }
    return fd;
}

static void descriptors_close(struct descriptors *d)
{
    if (d->uffd >= 0)
        close(d->uffd);
    if (d->maps >= 0)
        close(d->maps);
    if (d->pagemap >= 0)
        close(d->pagemap);
    *d = (struct descriptors){-1, -1, -1};
}

/* NULL, or why they can't be opened. */
static const char *descriptors_open(struct descriptors *d)
{
    const char *why = NULL;
    struct shm_vma vma;
    struct run run;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t here = (uintptr_t)&run & -page;
    *d = (struct descriptors){-1, -1, -1};
    d->uffd = uffd_open();
    if (d->uffd < 0)
        return errno == EPERM ? "userfaultfd is not permitted "
                                "(vm.unprivileged_userfaultfd is 0)"
                              : "the kernel has no UFFDIO_MOVE (Linux 6.8)";
    d->maps = shm_maps_open();
    d->pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (shm_vma_from(d->maps, here, &vma) < 0)
        why = "the kernel has no PROCMAP_QUERY (Linux 6.11)";
    else if (next_run(d->pagemap, here, here + page, &run) != 1)
        why = "/proc/self/pagemap can't be read (PAGEMAP_SCAN)";
    if (why)
        descriptors_close(d);
    return why;
}

const char *shm_share_refused(void)
{
    struct descriptors d;
    const char *why = descriptors_open(&d);
    descriptors_close(&d);
    return why;
}

void shm_sharing_forked(void)
{
    descriptors_close(&kept);
}

/* A signal handler in this thread could touch the pages: it would wait for
 * ever. */
static void signals_block(sigset_t *before)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, before);
}

static void signals_restore(const sigset_t *before)
{
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static void tools_close(struct tools *t)
{
    if (t->staging != MAP_FAILED)
        munmap(t->staging, PIECE);
}

static int tools_open(struct tools *t)
{
    if (kept.uffd < 0 && descriptors_open(&kept))
        return -1;
    t->of = kept;
    t->staging = mmap(NULL, PIECE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t->staging != MAP_FAILED && !watch(t->of.uffd, (uintptr_t)t->staging,
                                           PIECE, UFFDIO_REGISTER_MODE_MISSING))
        return 0;
    tools_close(t);
    return -1;
}

/* ----------------------------------------------------- private → memfd --- */

/* The kernel can't move pages that a forked child shares. This makes it copy
 * them for this process. */
static void unshare_from_children(int pagemap, uint64_t at, uint64_t end)
{
    for (struct run run; next_run(pagemap, at, end, &run) > 0; at = run.end)
        syscall(SYS_madvise, run.start, run.end - run.start,
                MADV_POPULATE_WRITE);
}

static int fill_file(const struct tools *t, int fd, uint64_t offset,
                     uint64_t length)
{
    uint64_t from = (uintptr_t)t->staging, at = from;
    struct run run;
    int found;
    while ((found = next_run(t->of.pagemap, at, from + length, &run)) > 0) {
        for (uint64_t left; (left = run.end - run.start);) {
            long n = syscall(SYS_pwrite64, fd, run.start, left,
                             offset + (run.start - from));
            if (n <= 0)
                return -1;
            run.start += (uint64_t)n;
        }
        at = run.end;
    }
    return found;
}

/* Makes p->aside: an empty mapping with the advice and policy of this piece,
 * large enough for all pieces. The pages of this piece lie in `staging` now. */
static int set_aside(struct shm_shared_pages *p, uint64_t at, uint64_t length)
{
    void *twin = sys_mremap((void *)(uintptr_t)at, length, length,
                            MREMAP_DONTUNMAP, NULL);
    if (twin == MAP_FAILED)
        return -1;
    p->aside = sys_mremap(twin, length, p->length, 0, NULL);
    if (p->aside != MAP_FAILED)
        return 0;
    p->aside = NULL;
    syscall(SYS_munmap, twin, length);
    return -1;
}

static int map_file(const struct shm_shared_pages *p, uint64_t at,
                    uint64_t length)
{
    if ((void *)syscall(SYS_mmap, at, length, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, p->fd,
                        at - p->base) == MAP_FAILED)
        return -1;
    syscall(SYS_madvise, at, length, MADV_DONTFORK);
    return 0;
}

static int share_piece(struct shm_shared_pages *p, const struct tools *t,
                       uint64_t at, uint64_t length)
{
    uint64_t staging = (uintptr_t)t->staging, moved;
    unshare_from_children(t->of.pagemap, at, at + length);
    if (watch(t->of.uffd, at, length, UFFDIO_REGISTER_MODE_MISSING))
        return -1;
    moved = move(t->of.uffd, staging, at, length, MOVE_TRIES);
    if (moved < length || fill_file(t, p->fd, at - p->base, length) ||
        (!p->aside && set_aside(p, at, length)) || map_file(p, at, length)) {
        /* Moving back always succeeds, as no page in `staging` can be pinned.
         * The pages are lost only if the consumer has unmapped their place. */
        move(t->of.uffd, at, staging, moved, UINT_MAX);
        unwatch(t->of.uffd, at, length);
        return -1;
    }
    wake(t->of.uffd, at, length);
    syscall(SYS_madvise, staging, length, MADV_DONTNEED);
    return 0;
}

static int file_open(struct shm_shared_pages *p)
{
    struct stat st;
    p->fd = memfd_sealed("dapl-shm-adopted", p->length + GROWTH);
    if (p->fd < 0)
        return -1;
    fstat(p->fd, &st);
    p->device = st.st_dev;
    p->inode = st.st_ino;
    return 0;
}

static int share_all(struct shm_shared_pages *p, const struct tools *t)
{
    for (uint64_t done = 0, n; done < p->length; done += n) {
        n = min(p->length - done, PIECE);
        if (share_piece(p, t, p->base + done, n))
            return -1;
    }
    return 0;
}

int shm_share_pages(struct shm_shared_pages *p, uint64_t base, uint64_t length)
{
    struct tools t;
    sigset_t signals;
    *p = (struct shm_shared_pages){.base = base, .length = length};
    if (tools_open(&t))
        return -1;
    if (file_open(p)) {
        tools_close(&t);
        return -1;
    }
    signals_block(&signals);
    int failed = share_all(p, &t);
    signals_restore(&signals);
    tools_close(&t);
    if (!failed)
        return 0;
    return shm_unshare_pages(p) ? 1 : -1;
}

/* ----------------------------------------------------- memfd → private --- */

static int copy_back(const struct shm_shared_pages *p, uint64_t offset,
                     uint64_t end)
{
    while (offset < end) {
        long data = syscall(SYS_lseek, p->fd, offset, SEEK_DATA);
        if (data < 0 || (uint64_t)data >= end)
            return data < 0 && errno != ENXIO ? -1 : 0;
        long hole = syscall(SYS_lseek, p->fd, data, SEEK_HOLE);
        if (hole < 0)
            return -1;
        uint64_t stop = min((uint64_t)hole, end);
        for (offset = (uint64_t)data; offset < stop;) {
            long n = syscall(SYS_pread64, p->fd, p->aside + offset,
                             stop - offset, offset);
            if (n <= 0)
                return -1;
            offset += (uint64_t)n;
        }
    }
    return 0;
}

static int protect(int uffd, uint64_t at, uint64_t length)
{
    struct uffdio_writeprotect w = {.range = {at, length},
                                    .mode = UFFDIO_WRITEPROTECT_MODE_WP};
    return sys_ioctl(uffd, UFFDIO_WRITEPROTECT, &w);
}

static int unshare_piece(struct shm_shared_pages *p, int uffd, uint64_t at,
                         uint64_t length, int prot)
{
    uint64_t offset = at - p->base;
    char *aside = p->aside + offset;
    if (watch(uffd, at, length, UFFDIO_REGISTER_MODE_WP))
        return -1;
    if (protect(uffd, at, length) || copy_back(p, offset, offset + length) ||
        syscall(SYS_mprotect, aside, length, prot) ||
        sys_mremap(aside, length, length, MREMAP_FIXED | MREMAP_DONTUNMAP,
                   (void *)(uintptr_t)at) == MAP_FAILED) {
        /* the next call of shm_unshare_pages() copies again */
        syscall(SYS_mprotect, aside, length, PROT_READ | PROT_WRITE);
        unwatch(uffd, at, length);
        return -1;
    }
    wake(uffd, at, length);
    /* frees the file's pages even if peers have not unmapped them yet */
    syscall(SYS_fallocate, p->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
            offset, length);
    return 0;
}

static bool is_from(const struct shm_vma *v, const struct shm_shared_pages *p,
                    uint64_t at)
{
    return v->inode == p->inode && v->device == p->device && v->shared &&
           v->offset + (at - v->start) == at - p->base;
}

/* Moves back the pages that are still mapped from the memfd. The consumer may
 * have unmapped or moved some pages, and protected others. */
static int unshare_mapped(struct shm_shared_pages *p,
                          const struct descriptors *d)
{
    uint64_t end = p->base + p->length, at = p->base;
    struct shm_vma v;
    int found = 0;
    while (at < end && (found = shm_vma_from(d->maps, at, &v)) > 0 &&
           v.start < end) {
        uint64_t stop = min(v.end, end);
        at = v.start > at ? v.start : at;
        bool ours = is_from(&v, p, at);
        for (uint64_t n; at < stop; at += n) {
            n = min(stop - at, PIECE);
            if (ours && unshare_piece(p, d->uffd, at, n, v.prot))
                return -1;
        }
    }
    return found < 0 ? -1 : 0;
}

int shm_unshare_pages(struct shm_shared_pages *p)
{
    if (p->aside) {
        struct descriptors d = kept;
        sigset_t signals;
        signals_block(&signals);
        int failed = unshare_mapped(p, &d);
        signals_restore(&signals);
        if (failed)
            return -1;
        munmap(p->aside, p->length);
    }
    close(p->fd);
    return 0;
}

bool shm_pages_are_shared(const struct shm_shared_pages *p, uint64_t from,
                          uint64_t to)
{
    struct shm_vma v;
    return shm_vma_from(kept.maps, from, &v) > 0 &&
           shm_vma_covers(&v, from, to - from) && is_from(&v, p, from) &&
           v.prot == (PROT_READ | PROT_WRITE);
}

void shm_shared_pages_forked(const struct shm_shared_pages *p)
{
    mmap((void *)(uintptr_t)p->base, p->length, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
         0);
    if (p->aside)
        munmap(p->aside, p->length);
    close(p->fd);
}
