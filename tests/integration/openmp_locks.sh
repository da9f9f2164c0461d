#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks: what would synchronise the threads of one
# process only is refused in a region.
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

two_ranks=(env RAILOMP_RANKS=2 OMP_NUM_THREADS=1)

cat >synchronises.c <<'END'
#define _GNU_SOURCE
#include <omp.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static mtx_t c_mutex;
static cnd_t c_cond;
static pthread_mutex_t odd;
static const struct timespec end;
int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    ODD(&attributes, 1);
    pthread_mutex_init(&odd, &attributes);
    pthread_barrier_init(&barrier, NULL, omp_get_max_threads());
    sem_init(&semaphore, 0, 2);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        CALL;
    return 0;
}
END
# synchronises SENTENCE CALL [ODD]: it is refused; ODD makes the mutex `odd`
synchronises()
{
    "$BUILD/bin/railomp-cc" "-DCALL=$2" "-DODD=${3:-pthread_mutexattr_setpshared}" \
        synchronises.c -o synchronises
    for pages in shared copied; do
        refused "$2, pages are $pages" "rank.1:.$1.*is.not.served.in.a.region" \
            "${two_ranks[@]}" RAILOMP_PAGES=$pages OMP_NUM_THREADS=2 ./synchronises
    done
}
for call in 'pthread_cond_wait(&cond, &mutex)' 'pthread_cond_timedwait(&cond, &mutex, &end)' \
    'pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &end)' \
    'pthread_mutex_timedlock(&mutex, &end)' \
    'pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &end)' \
    'cnd_wait(&c_cond, &c_mutex)' 'cnd_timedwait(&c_cond, &c_mutex, &end)' \
    'mtx_lock(&c_mutex)' 'mtx_trylock(&c_mutex)' 'mtx_timedlock(&c_mutex, &end)' \
    'pthread_rwlock_'{,try}{rd,wr}'lock(&lock)' \
    'pthread_rwlock_timed'{rd,wr}'lock(&lock, &end)' \
    'pthread_rwlock_clock'{rd,wr}'lock(&lock, CLOCK_MONOTONIC, &end)' \
    'pthread_barrier_wait(&barrier)' 'sem_wait(&semaphore)' 'sem_trywait(&semaphore)' \
    'sem_timedwait(&semaphore, &end)' 'sem_clockwait(&semaphore, CLOCK_MONOTONIC, &end)'; do
    synchronises "${call%%(*}.." "$call"
done
for odd in pthread_mutexattr_setpshared pthread_mutexattr_setrobust pthread_mutexattr_setprotocol; do
    synchronises 'a.robust,.process-shared.or.priority.mutex' 'pthread_mutex_lock(&odd)' $odd
done
# headers of C++ call these functions; the library waits for std::condition_variable
cat >waits.cpp <<'END'
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <omp.h>
static std::timed_mutex timed;
static std::mutex mutex;
static std::condition_variable condition;
int main()
{
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        std::unique_lock<std::mutex> guard(mutex);
        CALL;
    }
    return 0;
}
END
for call in 'pthread_mutex_clocklock timed.try_lock_for(std::chrono::seconds(1))' \
    'pthread_cond_clockwait condition.wait_for(guard,std::chrono::seconds(1))' \
    'std::condition_variable::wait condition.wait(guard)'; do
    "$BUILD/bin/railomp-c++" "-DCALL=${call#* }" waits.cpp -o waits
    for pages in shared copied; do
        refused "${call#* }, pages are $pages" \
            "rank.1:.${call% *}...is.not.served.in.a.region" \
            "${two_ranks[@]}" RAILOMP_PAGES=$pages OMP_NUM_THREADS=2 ./waits
    done
done
