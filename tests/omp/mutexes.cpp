/* SPDX-License-Identifier: BSD-3-Clause */
// Mutexes of the system and of C++ between threads of a region. Prints the same
// for any number of threads.
#include <cerrno>
#include <cstdio>
#include <memory>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <thread>
#include <vector>

enum { TIMES = 200 };

static std::mutex mutex;
static std::recursive_mutex recursive;
static std::once_flag once;
static pthread_mutex_t checked = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_spinlock_t spin;

/* Adds under each kind of lock. */
static void count()
{
    long of_mutex = 0, of_recursive = 0, of_checked = 0, of_spin = 0, tried = 0;
    int wrong = 0;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
#pragma omp parallel reduction(+ : wrong, tried)
    for (int i = 0; i < TIMES; i++) {
        {
            std::lock_guard<std::mutex> guard(mutex);
            of_mutex += i;
        }
        recursive.lock();
        wrong += !recursive.try_lock();
        of_recursive += i;
        recursive.unlock();
        recursive.unlock();
        wrong += pthread_mutex_lock(&checked);
        wrong += pthread_mutex_lock(&checked) != EDEADLK;
        of_checked += i;
        wrong += pthread_mutex_unlock(&checked);
        wrong += pthread_mutex_unlock(&checked) != EPERM;
        pthread_spin_lock(&spin);
        wrong += pthread_spin_trylock(&spin) != EBUSY;
        of_spin += i;
        pthread_spin_unlock(&spin);
        if (mutex.try_lock()) {
            of_mutex -= i;
            tried += i;
            mutex.unlock();
        }
    }
    const long all = omp_get_max_threads() * TIMES * (TIMES - 1L) / 2;
    std::printf("count: %d wrong, %d %d %d %d\n", wrong,
                of_mutex == all - tried, of_recursive == all, of_checked == all,
                of_spin == all);
}

/* The memory of a mutex has had another one before. */
static void again()
{
    int wrong = 0;
    for (int round = 0; round < 10; round++) {
        auto all = std::make_unique<std::vector<std::mutex>>(20 + round % 3);
        std::vector<long> sums(all->size());
#pragma omp parallel
        for (int i = 0; i < TIMES; i++) {
            const auto at = i % all->size();
            std::lock_guard<std::mutex> guard((*all)[at]);
            sums[at]++;
        }
        long sum = 0;
        for (long s : sums)
            sum += s;
        wrong += sum != (long)omp_get_max_threads() * TIMES;
    }
    std::printf("again: %d wrong\n", wrong);
}

static void only_once()
{
    int calls = 0, value = 0, wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    {
        std::call_once(once, [&] {
            calls++;
            value = 7;
        });
        wrong += value != 7;
    }
    std::call_once(once, [&] { calls++; });
    std::printf("once: %d wrong, %d\n", wrong, calls);
}

/* Threads that the program makes share one with main. */
static void own_threads()
{
    long sum = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; t++)
        threads.emplace_back([&] {
            for (int i = 0; i < TIMES; i++) {
                std::lock_guard<std::mutex> guard(mutex);
                sum += i;
            }
        });
    for (auto &t : threads)
        t.join();
    std::printf("own threads: %d\n", sum == 3 * TIMES * (TIMES - 1L) / 2);
}

int main()
{
    count();
    again();
    only_once();
    own_threads();
    count();
    return 0;
}
