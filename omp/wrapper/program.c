/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program (railomp-cc). The linker passes the program's main,
 * and its calls of malloc and its like, to these functions (--wrap). They call
 * librailomp. They are a part of the program, so that they have the same
 * address in all ranks: a rank may call another one's pointer to free().
 * Libraries keep their own malloc: their memory stays private to a rank. */
#include "omp/wrapper/program.h"

/* the linker's names */
int __real_main(int argc, char **argv, char **envp);
int __wrap_main(int argc, char **argv, char **envp);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *p, size_t bytes);
void *__wrap_reallocarray(void *p, size_t count, size_t bytes);
void *__wrap_memalign(size_t alignment, size_t bytes);
void *__wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes);
void __wrap_free(void *p);
char *__wrap_strdup(const char *text);
char *__wrap_strndup(const char *text, size_t most);
int __wrap___cxa_guard_acquire(uint64_t *guard);
void __wrap___cxa_guard_release(uint64_t *guard);
void __wrap___cxa_guard_abort(uint64_t *guard);

char railomp_early[RAILOMP_EARLY_BYTES] __attribute__((aligned(4096)));

int __wrap_main(int argc, char **argv, char **envp)
{
    return railomp_main(__real_main, argc, argv, envp);
}

void *__wrap_malloc(size_t bytes)
{
    return railomp_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return railomp_calloc(count, bytes);
}

void *__wrap_realloc(void *p, size_t bytes)
{
    return railomp_realloc(p, bytes);
}

void *__wrap_reallocarray(void *p, size_t count, size_t bytes)
{
    return railomp_reallocarray(p, count, bytes);
}

void *__wrap_memalign(size_t alignment, size_t bytes)
{
    return railomp_memalign(alignment, bytes);
}

void *__wrap_aligned_alloc(size_t alignment, size_t bytes)
{
    return railomp_memalign(alignment, bytes);
}

int __wrap_posix_memalign(void **p, size_t alignment, size_t bytes)
{
    return railomp_posix_memalign(p, alignment, bytes);
}

void __wrap_free(void *p)
{
    railomp_free(p);
}

char *__wrap_strdup(const char *text)
{
    return railomp_strndup(text, SIZE_MAX);
}

char *__wrap_strndup(const char *text, size_t most)
{
    return railomp_strndup(text, most);
}

int __wrap___cxa_guard_acquire(uint64_t *guard)
{
    return railomp_guard_acquire(guard);
}

void __wrap___cxa_guard_release(uint64_t *guard)
{
    railomp_guard_release(guard);
}

void __wrap___cxa_guard_abort(uint64_t *guard)
{
    railomp_guard_abort(guard);
}
