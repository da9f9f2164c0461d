/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Linked into each program: its mutexes (also std::mutex), spinlocks and
 * pthread_once(). The system's exclude the threads of one process only.
 *
 * A mutex of several ranks has two locks. Threads of a region take the lock
 * between ranks. In rank 0 they then take the system's lock, too: it excludes
 * the threads that the program has started itself, and condition variables need
 * it. All other threads of rank 0 take the system's lock alone. Other ranks
 * never change the system's lock: its word is in memory that all ranks share,
 * but the kernel wakes threads of one process only.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "omp/wrapper/program.h"
#include "omp/wrapper/wrapped.h"

int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
int __real_pthread_mutex_trylock(pthread_mutex_t *mutex);

/* In the place where the system links robust mutexes. */
struct ranks_lock {
    uint32_t is_locked;
    uint32_t unused; /* ddsm_atomic(): over verbs, no plain writes here */
    uint64_t holder; /* thread_number(), and how often it has locked; or 0 */
};
_Static_assert(sizeof(struct ranks_lock) == sizeof(__pthread_list_t),
               "no room in a mutex");
#define THREAD_BITS 48 /* of the holder */
#define LOCKED_ONCE (UINT64_C(1) << THREAD_BITS)

static struct ranks_lock *ranks_lock_of(pthread_mutex_t *mutex)
{
    return (struct ranks_lock *)&mutex->__data.__list;
}

static pid_t thread_id(void)
{
    static __thread pid_t id;
    if (!id)
        id = gettid();
    return id;
}

/* Differs between all threads of all ranks; not 0. */
static uint64_t thread_number(void)
{
    return (uint64_t)(railomp_rank() + 1) << 32 | (uint32_t)thread_id();
}

static uint64_t holder_of(const struct ranks_lock *lock)
{
    return __atomic_load_n(&lock->holder, __ATOMIC_RELAXED);
}

static void set_holder(struct ranks_lock *lock, uint64_t holder)
{
    __atomic_store_n(&lock->holder, holder, __ATOMIC_RELAXED);
}

static bool is_held_by_this_thread(const struct ranks_lock *lock)
{
    const uint64_t holder = holder_of(lock);
    return holder && holder % LOCKED_ONCE == thread_number();
}

static bool is_held_by_this_rank(const struct ranks_lock *lock)
{
    const uint64_t holder = holder_of(lock);
    return holder && holder % LOCKED_ONCE >> 32 == thread_number() >> 32;
}

/* Bits of a mutex's kind in glibc. Its other bits are hints. */
enum { TYPE = 3, ROBUST = 16, INHERITS = 32, PROTECTS = 64, IS_SHARED = 128 };

static int type_of(const pthread_mutex_t *mutex)
{
    return mutex->__data.__kind & TYPE;
}

/* The system refuses to let another thread unlock it. */
static bool is_for_holder_only(const pthread_mutex_t *mutex)
{
    return type_of(mutex) == PTHREAD_MUTEX_RECURSIVE ||
           type_of(mutex) == PTHREAD_MUTEX_ERRORCHECK;
}

static bool is_served_kind(const pthread_mutex_t *mutex)
{
    return !(mutex->__data.__kind & (ROBUST | INHERITS | PROTECTS | IS_SHARED));
}

static bool needs_ranks_lock(pthread_mutex_t *mutex)
{
    const bool is_relocked = /* it was locked before the region began */
        !railomp_rank() && mutex->__data.__owner == thread_id();
    return railomp_is_between_ranks(mutex) && !is_relocked;
}

/* Ends the program if the kind is not served. */
static void check_kind(const pthread_mutex_t *mutex)
{
    if (!is_served_kind(mutex))
        railomp_not_served("a robust, process-shared or priority mutex");
}

/* The result of locking a mutex again that this thread holds between ranks. */
static int lock_again(pthread_mutex_t *mutex, int otherwise)
{
    struct ranks_lock *lock = ranks_lock_of(mutex);
    const uint64_t holder = holder_of(lock);
    if (type_of(mutex) != PTHREAD_MUTEX_RECURSIVE)
        return otherwise;
    if (holder > UINT64_MAX - LOCKED_ONCE)
        return EAGAIN;
    set_holder(lock, holder + LOCKED_ONCE);
    return 0;
}

/* Where ranks copy pages, the kernel can't wait for the mutex's word: its page
 * may be absent. So the thread polls. */
static int lock_in_rank(pthread_mutex_t *mutex)
{
    int rc;
    if (!railomp_is_copied(mutex) || mutex->__data.__owner == thread_id())
        return __real_pthread_mutex_lock(mutex);
    for (unsigned i = 0; (rc = __real_pthread_mutex_trylock(mutex)) == EBUSY;
         i++)
        railomp_pause(i);
    return rc;
}

WRAPPED(int, pthread_mutex_lock, pthread_mutex_t *mutex)
{
    struct ranks_lock *lock = ranks_lock_of(mutex);
    const bool is_mine = is_served_kind(mutex) && is_held_by_this_thread(lock);
    if (is_mine && is_for_holder_only(mutex))
        return lock_again(mutex, EDEADLK);
    if (!needs_ranks_lock(mutex))
        return lock_in_rank(mutex);
    check_kind(mutex);
    railomp_word_await(&lock->is_locked, false, true);
    const int rc = railomp_rank() ? 0 : lock_in_rank(mutex);
    set_holder(lock, LOCKED_ONCE | thread_number());
    return rc;
}

WRAPPED(int, pthread_mutex_trylock, pthread_mutex_t *mutex)
{
    struct ranks_lock *lock = ranks_lock_of(mutex);
    if (is_served_kind(mutex) && is_held_by_this_thread(lock))
        return lock_again(mutex, EBUSY);
    if (!needs_ranks_lock(mutex))
        return __real_pthread_mutex_trylock(mutex);
    check_kind(mutex);
    if (!railomp_word_swap(&lock->is_locked, false, true))
        return EBUSY;
    const int rc = railomp_rank() ? 0 : __real_pthread_mutex_trylock(mutex);
    if (rc)
        railomp_word_set(&lock->is_locked, false);
    else
        set_holder(lock, LOCKED_ONCE | thread_number());
    return rc;
}

WRAPPED(int, pthread_mutex_unlock, pthread_mutex_t *mutex)
{
    struct ranks_lock *lock = ranks_lock_of(mutex);
    /* The calling thread may be in no region now. */
    if (!is_served_kind(mutex) || !is_held_by_this_rank(lock) ||
        (is_for_holder_only(mutex) && !is_held_by_this_thread(lock)))
        return railomp_rank() && railomp_is_between_ranks(mutex)
                   ? EPERM
                   : __real_pthread_mutex_unlock(mutex);
    const uint64_t holder = holder_of(lock) - LOCKED_ONCE;
    if (holder >= LOCKED_ONCE) {
        set_holder(lock, holder);
        return 0;
    }
    set_holder(lock, 0);
    /* First the system's lock: the next holder may be a thread of this rank. */
    const int rc = railomp_rank() ? 0 : __real_pthread_mutex_unlock(mutex);
    railomp_word_set(&lock->is_locked, false);
    return rc;
}

/* The system's values. */
enum { ONCE_NEW, ONCE_RUNS, ONCE_DONE };
struct once_call {
    uint32_t *word, result;
};

static void end_once_call(struct once_call *call)
{
    railomp_word_set(call->word, call->result);
}

/* Also std::call_once. After an exception of @run another thread calls it. */
WRAPPED(int, pthread_once, pthread_once_t *once, void (*run)(void))
{
    uint32_t *word = (uint32_t *)once;
    if (!railomp_is_of_ranks(once))
        return __real_pthread_once(once, run);
    for (unsigned i = 0; !railomp_word_swap(word, ONCE_NEW, ONCE_RUNS); i++) {
        if (railomp_word_swap(word, ONCE_DONE, ONCE_DONE))
            return 0;
        railomp_pause(i);
    }
    struct once_call call
        __attribute__((cleanup(end_once_call))) = {word, ONCE_NEW};
    run();
    call.result = ONCE_DONE;
    return 0;
}

void __wrap_call_once(once_flag *flag, void (*run)(void));
void __wrap_call_once(once_flag *flag, void (*run)(void))
{
    __wrap_pthread_once((pthread_once_t *)flag, run);
}

/* The system's values. All threads take a spinlock in the same way. */
enum { SPIN_TAKEN, SPIN_FREE };

static uint32_t *word_of(pthread_spinlock_t *lock)
{
    return (uint32_t *)(uintptr_t)lock;
}

WRAPPED(int, pthread_spin_lock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_of_ranks(word))
        return __real_pthread_spin_lock(lock);
    railomp_word_await(word, SPIN_FREE, SPIN_TAKEN);
    return 0;
}

WRAPPED(int, pthread_spin_trylock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_of_ranks(word))
        return __real_pthread_spin_trylock(lock);
    return railomp_word_swap(word, SPIN_FREE, SPIN_TAKEN) ? 0 : EBUSY;
}

WRAPPED(int, pthread_spin_unlock, pthread_spinlock_t *lock)
{
    uint32_t *word = word_of(lock);
    if (!railomp_is_of_ranks(word))
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
        railomp_synchronises(object, #name "()");                              \
        return __real_##name arguments;                                        \
    }
/* with an object; until a time; until a time of a clock */
#define REFUSED_CALL(name, type) REFUSED(name, (type * object), (object))
#define REFUSED_UNTIL(name, type)                                              \
    REFUSED(name, (type * object, const struct timespec *end), (object, end))
#define REFUSED_BY_CLOCK(name, type)                                           \
    REFUSED(name,                                                              \
            (type * object, clockid_t clock, const struct timespec *end),      \
            (object, clock, end))

REFUSED(pthread_cond_wait, (pthread_cond_t * object, pthread_mutex_t *mutex),
        (object, mutex))
REFUSED(pthread_cond_timedwait,
        (pthread_cond_t * object, pthread_mutex_t *mutex,
         const struct timespec *end),
        (object, mutex, end))
REFUSED(pthread_cond_clockwait,
        (pthread_cond_t * object, pthread_mutex_t *mutex, clockid_t clock,
         const struct timespec *end),
        (object, mutex, clock, end))
REFUSED(cnd_wait, (cnd_t * object, mtx_t *mutex), (object, mutex))
REFUSED(cnd_timedwait,
        (cnd_t * object, mtx_t *mutex, const struct timespec *end),
        (object, mutex, end))
REFUSED_UNTIL(pthread_mutex_timedlock, pthread_mutex_t)
REFUSED_BY_CLOCK(pthread_mutex_clocklock, pthread_mutex_t)
REFUSED_CALL(mtx_lock, mtx_t)
REFUSED_CALL(mtx_trylock, mtx_t)
REFUSED_UNTIL(mtx_timedlock, mtx_t)
REFUSED_CALL(pthread_rwlock_rdlock, pthread_rwlock_t)
REFUSED_CALL(pthread_rwlock_tryrdlock, pthread_rwlock_t)
REFUSED_UNTIL(pthread_rwlock_timedrdlock, pthread_rwlock_t)
REFUSED_BY_CLOCK(pthread_rwlock_clockrdlock, pthread_rwlock_t)
REFUSED_CALL(pthread_rwlock_wrlock, pthread_rwlock_t)
REFUSED_CALL(pthread_rwlock_trywrlock, pthread_rwlock_t)
REFUSED_UNTIL(pthread_rwlock_timedwrlock, pthread_rwlock_t)
REFUSED_BY_CLOCK(pthread_rwlock_clockwrlock, pthread_rwlock_t)
REFUSED_CALL(pthread_barrier_wait, pthread_barrier_t)
REFUSED_CALL(sem_wait, sem_t)
REFUSED_CALL(sem_trywait, sem_t)
REFUSED_UNTIL(sem_timedwait, sem_t)
REFUSED_BY_CLOCK(sem_clockwait, sem_t)
