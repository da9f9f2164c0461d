// SPDX-License-Identifier: BSD-3-Clause
// C++: std::atomic, containers, strings, objects made by any thread, exceptions
// within a thread.
#include <atomic>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <omp.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

struct shape {
    virtual ~shape() = default;
    virtual int sides() const
    {
        return 0;
    }
};
struct square : shape {
    int sides() const override
    {
        return 4;
    }
};

static std::atomic<int> total;
static std::atomic<double> real_total;
static std::atomic<bool> said;
static std::vector<int> before_main(100, 7);

static std::atomic<int> made;
struct counted {
    std::vector<int> ids;
    counted() : ids(100, 1)
    {
        made++;
    }
};
static counted &only_one()
{
    static counted object;
    return object;
}

// Each in the place of its own: what a rank prints, objects that the first
// thread to come makes, a region of a thread that the program has made.
static void between_ranks()
{
    int sum = 0;
#pragma omp parallel for ordered schedule(static, 1)
    for (int i = 0; i < 12; i++) {
#pragma omp ordered
        std::cout << i << " ";
    }
    std::cout << "\n";
#pragma omp parallel
    only_one().ids[omp_get_thread_num()]++;
    for (int id : only_one().ids)
        sum += id;
    std::cout << sum - omp_get_max_threads() << ", made " << made << "\n";
    sum = 0;
    std::thread other([&sum] {
        int own = 0;
#pragma omp parallel for reduction(+ : own)
        for (int i = 0; i < 100; i++)
            own += i;
        sum = own;
    });
    other.join();
    std::cout << sum << std::endl;
}

// The last thread keeps what it has caught; the first one throws it again.
static void exceptions_between_ranks()
{
    std::exception_ptr kept;
    int caught = 0;
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1) {
        try {
            throw std::runtime_error("a text that is longer than its object");
        } catch (...) {
            kept = std::current_exception();
        }
    }
    for (int i = 0; i < 3; i++) {
        std::vector<std::exception_ptr> copies(10, kept);
        try {
            std::rethrow_exception(copies[5]);
        } catch (const std::runtime_error &e) {
            caught += e.what()[0] == 'a';
        }
    }
    std::cout << "kept: " << caught << std::endl;
}

// Objects that the first thread to come makes, many: sooner or later a thread
// comes just when an object's guard has been set.
template <int N> static std::vector<int> &object()
{
    static std::vector<int> numbers(500, N);
    return numbers;
}

static void wait_for(unsigned loops)
{
    for (volatile unsigned i = 0; i < loops; i++)
        ;
}

template <int... N>
static int wrong_objects(unsigned id, std::integer_sequence<int, N...>)
{
    unsigned random = id, wrong = 0;
    int number = 0;
    for (auto get : {object<N>...}) {
        random = random * 1664525 + 1013904223;
        wait_for(random >> 17);
        const auto &found = get();
        wrong +=
            found.size() != 500 || found[0] != number || found[499] != number;
        number++;
    }
    return wrong;
}

static void many_objects()
{
    int wrong = 0;
#pragma omp parallel reduction(+ : wrong)
    wrong += wrong_objects(omp_get_thread_num(),
                           std::make_integer_sequence<int, 300>());
    std::cout << "objects: " << wrong << " wrong" << std::endl;
}

int main()
{
    std::ios::sync_with_stdio(false);
    between_ranks();
    many_objects();
    exceptions_between_ranks();
    std::vector<std::vector<int>> rows(64);
    std::vector<std::unique_ptr<shape>> shapes(64);
    std::map<int, std::string> names;
    std::string text = "a string that is too long for its own object";
    int wrong = 0, sides = 0, caught = 0, threads = 0;
    std::size_t length = 0;
    auto shared = std::make_shared<int>(5);
#pragma omp parallel reduction(+ : wrong, sides, caught, length)
    {
        const int id = omp_get_thread_num();
#pragma omp single
        threads = omp_get_num_threads();
        rows[id].assign(100 + id, id);
        shapes[id].reset(new square);
#pragma omp barrier
        const int next = (id + 1) % threads;
        wrong += rows[next].size() != 100u + next || rows[next][50] != next;
        sides += shapes[next]->sides();
        wrong += before_main[id] != 7 || before_main.size() != 100;
        wrong += text.size() != 44 || text[40] != 'j';
#pragma omp for
        for (int i = 0; i < 500; i++) {
            total++;
            total.fetch_sub(2, std::memory_order_relaxed);
            total += 3;
            double now = real_total.load();
            while (!real_total.compare_exchange_weak(now, now + 0.5))
                ;
            said.store(true, std::memory_order_release);
            auto copy = shared;
            wrong += *copy != 5;
#pragma omp critical
            names[i % 50] += 'x';
        }
        try {
            throw std::runtime_error("caught in its thread");
        } catch (const std::runtime_error &e) {
            caught += std::string(e.what()).size() == 20;
        }
#pragma omp single
        for (const auto &name : names)
            length += name.second.size();
    }
    std::printf(
        "C++: %d wrong, %d sides, %d caught, %zu, total %d %g %d, %ld\n", wrong,
        sides / threads, caught / threads, length, total.load(),
        real_total.load(), (int)said.load(), shared.use_count());
    return 0;
}
