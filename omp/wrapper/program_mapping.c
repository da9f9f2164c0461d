/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: what it maps by itself. All ranks see memory and
 * copies of files, which come from the shared heap. Only one rank sees a file
 * that the program writes by mmap, memory at a given address, and a stack. */
#include <stdarg.h>
#include <sys/mman.h>

#include "omp/wrapper/program.h"

enum {
    /* a fault on a stack that is copied could not be served */
    PRIVATE_FLAGS =
        MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_STACK | MAP_GROWSDOWN,
};

/* the linker's names */
void *__real_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset);
void *__wrap_mmap64(void *start, size_t bytes, int protection, int flags,
                    int fd, off64_t offset);
int __real_munmap(void *start, size_t bytes);
int __wrap_munmap(void *start, size_t bytes);
int __real_madvise(void *start, size_t bytes, int advice);
int __wrap_madvise(void *start, size_t bytes, int advice);
void *__real_mremap(void *start, size_t bytes, size_t longer, int flags, ...);
void *__wrap_mremap(void *start, size_t bytes, size_t longer, int flags, ...);

void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset)
{
    const bool is_memory = flags & MAP_ANONYMOUS;
    const bool writes_file = !is_memory && (flags & MAP_TYPE) != MAP_PRIVATE &&
                             (protection & PROT_WRITE);
    const bool is_data =
        (protection & (PROT_READ | PROT_WRITE)) && !(protection & PROT_EXEC);
    void *shared = NULL;
    if (flags & MAP_FIXED)
        railomp_remaps(start, bytes, "mmap with MAP_FIXED");
    if (is_data && !writes_file && !(flags & PRIVATE_FLAGS) &&
        (is_memory || fd >= 0))
        shared = railomp_map(bytes, is_memory ? -1 : fd, offset);
    return shared ? shared
                  : __real_mmap(start, bytes, protection, flags, fd, offset);
}

/* with -D_FILE_OFFSET_BITS=64 */
void *__wrap_mmap64(void *start, size_t bytes, int protection, int flags,
                    int fd, off64_t offset)
{
    return __wrap_mmap(start, bytes, protection, flags, fd, offset);
}

int __wrap_munmap(void *start, size_t bytes)
{
    return railomp_unmap(start, bytes) ? 0 : __real_munmap(start, bytes);
}

void *__wrap_mremap(void *start, size_t bytes, size_t longer, int flags, ...)
{
    va_list arguments;
    railomp_remaps(start, bytes, "mremap");
    va_start(arguments, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    return __real_mremap(start, bytes, longer, flags, to);
}

/* The pages would keep what the program wants to be gone. */
int __wrap_madvise(void *start, size_t bytes, int advice)
{
    if (advice == MADV_DONTNEED)
        railomp_remaps(start, bytes, "madvise with MADV_DONTNEED");
    return __real_madvise(start, bytes, advice);
}
