/* SPDX-License-Identifier: BSD-3-Clause */
// Mutexes of the system and of C++ between threads of a region. Prints the same
// for any number of threads.
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <omp.h>
#include <pthread.h>
#include <thread>
#include <unistd.h>
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

/* Threads that the program makes in a region, and the region's threads. Those
 * of rank 0 exclude each other, and so do those of the other ranks. */
static void beside()
{
    enum { ROUNDS = TIMES / 4 };
    long of_rank0 = 0, of_others = 0, of_region = 0;
    const pid_t rank0 = getpid();
#pragma omp parallel
    {
        long &sum = getpid() == rank0 ? of_rank0 : of_others;
        std::thread own([&sum] {
            for (int i = 0; i < ROUNDS; i++) {
                std::lock_guard<std::mutex> guard(mutex);
                const long before = sum;
                std::this_thread::yield();
                sum = before + 1;
            }
        });
        for (int i = 0; i < ROUNDS; i++) {
            std::lock_guard<std::mutex> guard(mutex);
            of_region++;
            const long before = sum;
            std::this_thread::yield();
            sum = before + 1;
        }
        own.join();
    }
    const long all = (long)omp_get_max_threads() * ROUNDS;
    std::printf("beside: %d %d\n", of_rank0 + of_others == 2 * all,
                of_region == all);
}

/* Thread 0 of a region feeds a thread that waits for a condition. */
static void feeds()
{
    std::mutex own_mutex;
    std::condition_variable condition;
    long ready = 0, taken = 0, locked = 0;
#pragma omp parallel
    if (!omp_get_thread_num()) {
        std::thread consumer([&] {
            std::unique_lock<std::mutex> guard(own_mutex);
            for (; taken < TIMES; taken++, ready--)
                while (!ready)
                    condition.wait(guard);
        });
        for (int i = 0; i < TIMES; i++) {
            std::lock_guard<std::mutex> guard(own_mutex);
            ready++;
            condition.notify_one();
        }
        consumer.join();
    } else {
        for (int i = 0; i < TIMES; i++) {
            std::lock_guard<std::mutex> guard(own_mutex);
            locked++;
        }
    }
    std::printf("feeds: %ld %ld %d\n", ready, taken,
                locked == (omp_get_max_threads() - 1L) * TIMES);
}

/* Locks that are held when a region begins or ends. */
static void across()
{
    long sum = 0;
    int wrong = 0, is_inside = 1;
    const pid_t rank0 = getpid();
    for (int round = 0; round < 10; round++) {
#pragma omp parallel
        if (!omp_get_thread_num()) {
            mutex.lock();
            recursive.lock();
            recursive.lock();
        }
        mutex.unlock();
        recursive.unlock();
        recursive.lock();
        recursive.unlock();
        recursive.unlock();
#pragma omp parallel
        {
            std::lock_guard<std::mutex> guard(mutex);
            std::lock_guard<std::recursive_mutex> other(recursive);
            sum++;
        }
    }
    mutex.lock();
    recursive.lock();
#pragma omp parallel reduction(+ : wrong)
    if (!omp_get_thread_num()) {
        recursive.lock();
        usleep(10000);
        is_inside = 0;
        recursive.unlock();
        recursive.unlock();
        mutex.unlock();
    } else {
        std::lock_guard<std::recursive_mutex> other(recursive);
        std::lock_guard<std::mutex> guard(mutex);
        wrong += is_inside && getpid() == rank0;
    }
    std::printf("across: %d wrong, %d\n", wrong,
                sum == omp_get_max_threads() * 10L);
}

/* Kinds that the system marks. */
static void kinds()
{
    pthread_mutex_t normal;
    pthread_mutexattr_t attributes;
    std::timed_mutex timed;
    long of_normal = 0, of_timed = 0;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_NORMAL);
    pthread_mutex_init(&normal, &attributes);
#pragma omp parallel
    for (int i = 0; i < TIMES; i++) {
        pthread_mutex_lock(&normal);
        of_normal += i;
        pthread_mutex_unlock(&normal);
        timed.lock();
        of_timed += i;
        timed.unlock();
    }
    const long all = omp_get_max_threads() * TIMES * (TIMES - 1L) / 2;
    std::printf("kinds: %d %d\n", of_normal == all, of_timed == all);
}

/* The first call fails; the next thread tries again. */
static void once_more()
{
    std::once_flag flag;
    int calls = 0, thrown = 0;
#pragma omp parallel reduction(+ : thrown)
    try {
        std::call_once(flag, [&] {
            if (!calls++)
                throw 1;
        });
    } catch (int) {
        thrown++;
    }
    std::printf("once more: %d, %d\n", thrown,
                calls == (omp_get_max_threads() > 1 ? 2 : 1));
}

int main()
{
    count();
    again();
    only_once();
    own_threads();
    beside();
    feeds();
    across();
    kinds();
    once_more();
    count();
    return 0;
}
