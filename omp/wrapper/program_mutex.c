/* SPDX-License-Identifier: BSD-3-Clause */
/* Linked into each program: its mutexes, also std::mutex, in regions of several
 * ranks. The system's are locks of one process. Outside of these regions, and
 * for threads that the program has made itself, they are the system's. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "omp/wrapper/program.h"

/* the linker's names */
#define WRAPPED(name, ...)                                                     \
    int __real_##name(__VA_ARGS__);                                            \
    int __wrap_##name(__VA_ARGS__);                                            \
    int __wrap_##name(__VA_ARGS__)

/* Where the system has the list of a robust mutex. */
struct between {
    uint32_t is_locked, count;
    const char *owner;
};
_Static_assert(sizeof(struct between) == sizeof(__pthread_list_t),
               "no room in a mutex");

/* Its address tells threads of all ranks apart: it lies on their stacks. */
static __thread char me;

static struct between *between_of(pthread_mutex_t *mutex)
{
    return (struct between *)&mutex->__data.__list;
}

enum { KIND = 3 };

static bool is_ours(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind <= KIND && railomp_is_between_ranks(mutex);
}

/* It is this thread's: the result of locking it once more. 0: try. */
static int again(pthread_mutex_t *mutex, int otherwise)
{
    struct between *b = between_of(mutex);
    if (b->owner != &me)
        return 0;
    if (mutex->__data.__kind != PTHREAD_MUTEX_RECURSIVE)
        return otherwise;
    b->count++;
    return EALREADY;
}

static void take(struct between *b)
{
    b->owner = &me;
    b->count = 1;
}

WRAPPED(pthread_mutex_lock, pthread_mutex_t *mutex)
{
    struct between *b = between_of(mutex);
    if (!is_ours(mutex))
        return __real_pthread_mutex_lock(mutex);
    const int rc = again(
        mutex, mutex->__data.__kind == PTHREAD_MUTEX_ERRORCHECK ? EDEADLK : 0);
    if (rc)
        return rc == EALREADY ? 0 : rc;
    railomp_word_await(&b->is_locked, false, true);
    take(b);
    return 0;
}

WRAPPED(pthread_mutex_trylock, pthread_mutex_t *mutex)
{
    struct between *b = between_of(mutex);
    if (!is_ours(mutex))
        return __real_pthread_mutex_trylock(mutex);
    const int rc = again(mutex, EBUSY);
    if (rc)
        return rc == EALREADY ? 0 : rc;
    if (!railomp_word_swap(&b->is_locked, false, true))
        return EBUSY;
    take(b);
    return 0;
}

WRAPPED(pthread_mutex_unlock, pthread_mutex_t *mutex)
{
    struct between *b = between_of(mutex);
    if (!is_ours(mutex) || b->owner != &me)
        return __real_pthread_mutex_unlock(mutex);
    if (--b->count)
        return 0;
    b->owner = NULL;
    railomp_word_set(&b->is_locked, false);
    return 0;
}

/* std::call_once, too; the values are the system's */
WRAPPED(pthread_once, pthread_once_t *once, void (*run)(void))
{
    enum { NONE, RUNS, DONE };
    uint32_t *word = (uint32_t *)once;
    if (!railomp_is_between_ranks(once))
        return __real_pthread_once(once, run);
    if (railomp_word_swap(word, NONE, RUNS)) {
        run();
        railomp_word_set(word, DONE);
    } else {
        railomp_word_await(word, DONE, DONE);
    }
    return 0;
}

/* The values are the system's. */
enum { SPIN_TAKEN, SPIN_FREE };

static uint32_t *word_of(pthread_spinlock_t *lock)
{
    return (uint32_t *)(uintptr_t)lock;
}

WRAPPED(pthread_spin_lock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_between_ranks(word))
        return __real_pthread_spin_lock(lock);
    railomp_word_await(word, SPIN_FREE, SPIN_TAKEN);
    return 0;
}

WRAPPED(pthread_spin_trylock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_between_ranks(word))
        return __real_pthread_spin_trylock(lock);
    return railomp_word_swap(word, SPIN_FREE, SPIN_TAKEN) ? 0 : EBUSY;
}

WRAPPED(pthread_spin_unlock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_between_ranks(word))
        return __real_pthread_spin_unlock(lock);
    railomp_word_set(word, SPIN_FREE);
    return 0;
}

/* ------------------------------------------------- what is not served there */

#define REFUSED(name, parameters, arguments)                                   \
    int __real_##name parameters;                                              \
    int __wrap_##name parameters;                                              \
    int __wrap_##name parameters                                               \
    {                                                                          \
        railomp_synchronises(object, #name);                                   \
        return __real_##name arguments;                                        \
    }
REFUSED(pthread_cond_wait, (pthread_cond_t * object, pthread_mutex_t *mutex),
        (object, mutex))
REFUSED(pthread_cond_timedwait,
        (pthread_cond_t * object, pthread_mutex_t *mutex,
         const struct timespec *end),
        (object, mutex, end))
REFUSED(pthread_mutex_timedlock,
        (pthread_mutex_t * object, const struct timespec *end), (object, end))
REFUSED(pthread_rwlock_rdlock, (pthread_rwlock_t * object), (object))
REFUSED(pthread_rwlock_wrlock, (pthread_rwlock_t * object), (object))
REFUSED(pthread_barrier_wait, (pthread_barrier_t * object), (object))
REFUSED(sem_wait, (sem_t * object), (object))
