/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LD_PRELOAD=late_thread.so: a thread of libdaplofa that unlocks something
 * goes on 20 ms later. So the thread that the library's end has waited for is
 * still at work in it when it is unloaded, which else is seen once in hundreds
 * of runs.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool of_provider(const void *code)
{
    Dl_info library;
    return dladdr(code, &library) && strstr(library.dli_fname, "/libdaplofa");
}

__attribute__((visibility("default"))) int
pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*_Atomic real)(pthread_mutex_t *);
    const struct timespec late = {.tv_nsec = 20000000};
    if (!real)
        real = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT,
                                                 "pthread_mutex_unlock");
    int error = real(mutex);
    if (gettid() != getpid() && of_provider(__builtin_return_address(0)))
        nanosleep(&late, NULL);
    return error;
}
