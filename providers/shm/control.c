/* SPDX-License-Identifier: BSD-3-Clause */
/* The control segment of an open IA, and sleeping on its doorbell. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/platform/resize.h"
#include "shm.h"

#define SEALS     (F_SEAL_SHRINK | F_SEAL_GROW)
#define READ_ONLY (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)

uint64_t shm_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

int shm_memfd(const char *name, size_t size)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        return -1;
    if (file_resize(fd, size) || fcntl(fd, F_ADD_SEALS, SEALS)) {
        close(fd);
        return -1;
    }
    return fd;
}

bool shm_memfd_ok(int fd, size_t size)
{
    struct stat st;
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & (SEALS | READ_ONLY)) == SEALS &&
           !fstat(fd, &st) && st.st_size == (off_t)size;
}

bool shm_cannot_shrink(int fd)
{
    int seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

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
        return -1; /* pages larger than any that are known */
    sia->control_fd = shm_memfd("dapl-shm-control", SHM_CONTROL_SIZE);
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

/* The child's copy is its own from now on. */
void shm_control_forked(struct shm_ia *sia)
{
    struct shm_control *c = &sia->control;
    const int prot = PROT_READ | PROT_WRITE;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    mmap(c->door, SHM_PAGE, prot, flags, -1, 0);
    mmap(c->table, SHM_CONTROL_SIZE - SHM_PAGE, prot, flags, -1, 0);
}

static long futex(_Atomic uint32_t *word, int op, uint32_t value,
                  const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static unsigned bell_index(uint64_t bell)
{
    return (unsigned)__builtin_ctzll(bell);
}

void shm_door_ring(struct shm_doorbell *door, uint64_t bells)
{
    for (; bells; bells &= bells - 1) {
        _Atomic uint32_t *bell = &door->bell[bell_index(bells)];
        if (atomic_load_explicit(bell, memory_order_relaxed) &&
            atomic_exchange(bell, 0))
            futex(bell, FUTEX_WAKE, 1, NULL);
    }
}

void shm_arm(struct core_ia *ia, uint64_t bell)
{
    struct shm_doorbell *door = shm_ia(ia)->control.door;
    atomic_store(&door->bell[bell_index(bell)], 1);
    if (!(atomic_load_explicit(&door->slept, memory_order_relaxed) & bell))
        atomic_fetch_or(&door->slept, bell);
}

int shm_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns)
{
    (void)fed;
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                         .tv_nsec = (long)(timeout_ns % 1000000000u)};
    long r = futex(&shm_ia(ia)->control.door->bell[bell_index(bell)],
                   FUTEX_WAIT, 1, timeout_ns == UINT64_MAX ? NULL : &t);
    return r < 0 && errno == EINTR ? EINTR : 0;
}

void shm_ring(struct core_ia *ia, uint64_t bells)
{
    shm_door_ring(shm_ia(ia)->control.door, bells);
}
