/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each C++ program (railomp-c++): the replaceable operators new and
 * delete. libstdc++ uses them, too, so what std::string and containers hold is
 * shared. The other forms of the operators end up in these. Exceptions are
 * shared, too: a std::exception_ptr may be handed to another rank. */
#include <exception>
#include <iostream>
#include <new>

extern "C" {
#include "omp/wrapper/program.h"

/* What std::cout holds if it is not synchronised with stdio. */
__attribute__((visibility("default"))) void railomp_flush_cxx(void);
void railomp_flush_cxx(void)
{
    std::cout.flush();
}

/* the C++ library's names */
__attribute__((visibility("default"))) void *
__cxa_allocate_exception(std::size_t bytes) noexcept;
__attribute__((visibility("default"))) void
__cxa_free_exception(void *thrown) noexcept;

/* std::condition_variable::wait(), whose other forms are inline */
#define CONDITION_WAIT(prefix)                                                 \
    prefix##_ZNSt18condition_variable4waitERSt11unique_lockISt5mutexE
__attribute__((visibility("default"))) void CONDITION_WAIT(__wrap_)(void *,
                                                                    void *);
void CONDITION_WAIT(__real_)(void *object, void *lock);
void CONDITION_WAIT(__wrap_)(void *object, void *lock)
{
    railomp_synchronises(object, "std::condition_variable::wait()");
    CONDITION_WAIT(__real_)(object, lock);
}

/* The library keeps so much before what is thrown, a part of its ABI. */
enum { EXCEPTION_HEADER = 128 };

void *__cxa_allocate_exception(std::size_t bytes) noexcept
{
    void *p = railomp_calloc(1, EXCEPTION_HEADER + bytes);
    if (!p)
        std::terminate();
    return static_cast<char *>(p) + EXCEPTION_HEADER;
}

void __cxa_free_exception(void *thrown) noexcept
{
    railomp_free(static_cast<char *>(thrown) - EXCEPTION_HEADER);
}
}

/* Weak: the program may have operators of its own. */
#define WEAK __attribute__((weak))

WEAK void *operator new(std::size_t bytes)
{
    void *p = railomp_malloc(bytes ? bytes : 1);
    if (!p)
        throw std::bad_alloc();
    return p;
}

WEAK void *operator new(std::size_t bytes, std::align_val_t alignment)
{
    void *p = railomp_memalign(static_cast<std::size_t>(alignment), bytes);
    if (!p)
        throw std::bad_alloc();
    return p;
}

WEAK void operator delete(void *p) noexcept
{
    railomp_free(p);
}

WEAK void operator delete(void *p, std::size_t) noexcept
{
    railomp_free(p);
}

WEAK void operator delete(void *p, std::align_val_t) noexcept
{
    railomp_free(p);
}

WEAK void operator delete(void *p, std::size_t, std::align_val_t) noexcept
{
    railomp_free(p);
}
