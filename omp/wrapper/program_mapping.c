/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: what it maps by itself. Memory and copies of files
 * are mapped from the shared heap. What is written to a file, or has a given
 * address, stays private to the rank. */
#include <stdarg.h>
#include <sys/mman.h>

#include "omp/wrapper/program.h"

enum {
    PRIVATE_FLAGS = MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT,
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
void *__real_mremap(void *start, size_t bytes, size_t longer, int flags, ...);
void *__wrap_mremap(void *start, size_t bytes, size_t longer, int flags, ...);

void *__wrap_mmap(void *start, size_t bytes, int protection, int flags, int fd,
                  off_t offset)
{
    const bool is_memory = flags & MAP_ANONYMOUS;
    const bool writes_file =
        !is_memory && !(flags & MAP_PRIVATE) && (protection & PROT_WRITE);
    const bool is_data =
        (protection & (PROT_READ | PROT_WRITE)) && !(protection & PROT_EXEC);
    void *shared = NULL;
    if (is_data && !writes_file && !(flags & PRIVATE_FLAGS))
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
    railomp_remaps(start);
    va_start(arguments, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    return __real_mremap(start, bytes, longer, flags, to);
}
