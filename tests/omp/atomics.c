/* SPDX-License-Identifier: BSD-3-Clause */
/* All forms of `omp atomic`, reductions of one variable, flush, _Atomic, and
 * the builtins. Prints the same for any number of threads. */
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>

enum { N = 600 };

#define OF_INTEGER(type, name)                                                 \
    static void integer_##name(void)                                           \
    {                                                                          \
        static type sum, minus, product = 1, all = (type)-1, any, odd,         \
                                shifted;                                       \
        static type captured[N], last, least = 100, most, swapped = 5;         \
        long total = 0;                                                        \
        _Pragma("omp parallel for") for (int i = 0; i < N; i++)                \
        {                                                                      \
            type old, v = (type)(i % 90);                                      \
            _Pragma("omp atomic") sum += 1;                                    \
            _Pragma("omp atomic") minus -= (type)(i % 3);                      \
            _Pragma("omp atomic") product *= (type)(i % 2 ? 3 : 1);            \
            _Pragma("omp atomic") all &= (type) ~(1 << i % 7);                 \
            _Pragma("omp atomic") any |= (type)(1 << i % 7);                   \
            _Pragma("omp atomic") odd ^= (type)i;                              \
            _Pragma("omp atomic capture") old = shifted++;                     \
            captured[i] = old;                                                 \
            _Pragma("omp atomic write") last = 42;                             \
            _Pragma("omp atomic read") old = last;                             \
            _Pragma("omp atomic capture")                                      \
            {                                                                  \
                old = swapped;                                                 \
                swapped = 5;                                                   \
            }                                                                  \
            _Pragma("omp atomic compare") if (v < least)                       \
            {                                                                  \
                least = v;                                                     \
            }                                                                  \
            _Pragma("omp atomic compare seq_cst") if (v > most)                \
            {                                                                  \
                most = v;                                                      \
            }                                                                  \
        }                                                                      \
        for (int i = 0; i < N; i++)                                            \
            total += captured[i];                                              \
        printf(#name ": %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld %ld\n",    \
               (long)sum, (long)minus, (long)product, (long)all, (long)any,    \
               (long)odd, (long)shifted, total, (long)last, (long)least,       \
               (long)most, (long)swapped);                                     \
    }
OF_INTEGER(signed char, char)
OF_INTEGER(unsigned char, uchar)
OF_INTEGER(short, short)
OF_INTEGER(unsigned short, ushort)
OF_INTEGER(int, int)
OF_INTEGER(unsigned, unsigned)
OF_INTEGER(long, long)
OF_INTEGER(unsigned long long, ull)

#define OF_REAL(type, name)                                                    \
    static void real_##name(void)                                              \
    {                                                                          \
        static type sum, minus, product = 1, quotient = 65536, seen;           \
        type least = 1000, most = -1000, added = 0, multiplied = 1;            \
        _Pragma("omp parallel for reduction(min : least)") for (int i = 0;     \
                                                                i < N; i++)    \
        {                                                                      \
            type old;                                                          \
            _Pragma("omp atomic") sum += (type)i;                              \
            _Pragma("omp atomic") minus -= (type)0.5;                          \
            _Pragma("omp atomic update") product *= (type)(i % 100 ? 1 : 2);   \
            _Pragma("omp atomic") quotient /= (type)(i % 100 ? 1 : 2);         \
            _Pragma("omp atomic capture")                                      \
            {                                                                  \
                seen += 1;                                                     \
                old = seen;                                                    \
            }                                                                  \
            _Pragma("omp atomic read") old = seen;                             \
            if (old < least)                                                   \
                least = old < 1 ? old : 1;                                     \
        }                                                                      \
        _Pragma("omp parallel for reduction(max : most)") for (int i = 0;      \
                                                               i < N; i++)     \
            most = (type)i > most ? (type)i : most;                            \
        _Pragma("omp parallel for reduction(+ : added)") for (int i = 0;       \
                                                              i < N; i++)      \
            added += (type)i;                                                  \
        _Pragma("omp parallel for reduction(* : multiplied)") for (int i = 0;  \
                                                                   i < 10;     \
                                                                   i++)        \
            multiplied *= 2;                                                   \
        printf(#name ": %g %g %g %g %g %g %g %g %g\n", (double)sum,            \
               (double)minus, (double)product, (double)quotient, (double)seen, \
               (double)least, (double)most, (double)added,                     \
               (double)multiplied);                                            \
    }
OF_REAL(float, float)
OF_REAL(double, double)
OF_REAL(long double, ldouble)

static void reductions(void)
{
    int both = 1, either = 0, bits = -1, set = 0, flipped = 0, least = 9;
    long sum = 0;
    _Complex double turned = 0;
#pragma omp parallel for reduction(&& : both)
    for (int i = 0; i < N; i++)
        both = both && i >= 0;
#pragma omp parallel for reduction(|| : either)
    for (int i = 0; i < N; i++)
        either = either || i == 77;
#pragma omp parallel for reduction(& : bits)
    for (int i = 0; i < N; i++)
        bits &= ~(1 << i % 5);
#pragma omp parallel for reduction(| : set)
    for (int i = 0; i < N; i++)
        set |= 1 << i % 9;
#pragma omp parallel for reduction(^ : flipped)
    for (int i = 0; i < N; i++)
        flipped ^= i;
#pragma omp parallel for reduction(+ : sum) reduction(min : least)
    for (int i = 0; i < N; i++) {
        sum += i;
        least = i - 7 < least ? i - 7 : least;
    }
#pragma omp parallel for reduction(+ : turned)
    for (int i = 0; i < N; i++)
        turned += i;
    printf("reductions: %d %d %d %d %d %ld %d %g\n", both, either, bits, set,
           flipped, sum, least, __real__ turned);
}

/* C11 and the builtins */
static _Atomic int counter;
static _Atomic double real_counter;
static atomic_flag flag = ATOMIC_FLAG_INIT;
static struct pair {
    long x, y, z;
} plain;
static _Atomic struct pair wide;

static void builtins(void)
{
    static int word, tested, under_flag;
    static long bits = -1, nands = 6, exchanged;
    static unsigned char byte;
#pragma omp parallel for
    for (int i = 0; i < N; i++) {
        counter++;
        atomic_fetch_add(&counter, 2);
        real_counter += 1;
        __sync_fetch_and_add(&word, 1);
        __sync_add_and_fetch(&word, 1);
        __sync_fetch_and_sub(&word, 1);
        __sync_fetch_and_and(&bits, ~(1L << i % 40));
        __atomic_or_fetch(&byte, 1 << i % 8, __ATOMIC_RELAXED);
        __atomic_fetch_xor(&bits, 0, __ATOMIC_ACQ_REL);
        __atomic_exchange_n(&exchanged, 9, __ATOMIC_SEQ_CST);
        if (i < 1)
            __atomic_fetch_nand(&nands, 3, __ATOMIC_SEQ_CST);
        if (__sync_bool_compare_and_swap(&tested, i, i))
            __sync_synchronize();
        while (atomic_flag_test_and_set(&flag))
            ;
        under_flag++;
        atomic_flag_clear(&flag);
        struct pair old = wide, new;
        do
            new = (struct pair){old.x + 1, old.y - 1, old.z + 2};
        while (!atomic_compare_exchange_weak(&wide, &old, new));
        atomic_thread_fence(memory_order_seq_cst);
    }
    plain = wide;
    printf("builtins: %d %g %d %ld %d %ld %ld %d %ld %ld %ld\n", counter,
           real_counter, word, bits, byte, nands, exchanged, under_flag,
           plain.x, plain.y, plain.z);
}

/* One thread waits for what another one says. */
static void flushes(void)
{
    static int data, ready, seen;
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            data = 17;
#pragma omp flush
#pragma omp atomic write
            ready = 1;
        }
#pragma omp section
        {
            for (int go = 0; !go;) {
#pragma omp atomic read
                go = ready;
            }
#pragma omp flush
            seen = data;
        }
    }
    printf("flush: %d\n", seen);
}

/* Two threads answer each other: each reads what the other one has written
 * before it said so. */
static void messages(void)
{
    enum { ROUNDS = 60 };
    static int data[2], said[2], flushed[2], told[2], wrong;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    for (int me = omp_get_thread_num(), i = 1; i <= ROUNDS; i++) {
        int heard = 0;
        data[me] = i;
#pragma omp atomic write release
        said[me] = i;
        while (heard < i) {
#pragma omp atomic read acquire
            heard = said[!me];
        }
        wrong += data[!me] != i;
        flushed[me] = i;
#pragma omp flush
#pragma omp atomic write relaxed
        told[me] = i;
        for (heard = 0; heard < i;) {
#pragma omp atomic read relaxed
            heard = told[!me];
        }
#pragma omp flush
        wrong += flushed[!me] != i;
    }
    printf("messages: %d wrong\n", wrong);
}

/* Longer than a word: under a lock. Each is whole, and none is lost. */
static void long_words(void)
{
    enum { ROUNDS = 100 };
    static _Atomic struct pair shown, swapped;
    static long wrong, taken;
    struct pair mine;
#pragma omp parallel num_threads(2) private(mine) reduction(+ : wrong, taken)
    {
        struct pair seen = {0, 0, 0};
        for (long i = 1; i <= ROUNDS; i++) {
            mine = (struct pair){i, i, i};
            taken += atomic_exchange(&swapped, mine).y;
            if (omp_get_thread_num() == 0)
                shown = mine;
        }
        while (omp_get_thread_num() == 1 && seen.x < ROUNDS) {
            seen = shown;
            wrong += seen.x != seen.y || seen.y != seen.z;
        }
    }
    mine = swapped;
    taken += mine.z;
    printf("long words: %ld wrong, %ld\n", wrong, taken);
}

/* Loads find each store whole, while the next one is under way: for longer than
 * the time that a thread has a processor. */
static void long_stores(void)
{
    enum { WORDS = 64 };
    static _Atomic struct block {
        long word[WORDS];
    } shown;
    const double end = omp_get_wtime() + 0.1;
    long wrong = 0;
#pragma omp parallel num_threads(2) reduction(+ : wrong)
    {
        const int writes = omp_get_thread_num() == 0;
        struct block mine;
        for (int i = 1; i == 1 || omp_get_wtime() < end; i++) {
            if (writes) {
                for (int w = 0; w < WORDS; w++)
                    mine.word[w] = i;
                shown = mine;
                continue;
            }
            mine = shown;
            for (int w = 1; w < WORDS; w++)
                wrong += mine.word[w] != mine.word[0];
        }
    }
    printf("long stores: %ld wrong\n", wrong);
}

static void unusual(void)
{
    static struct __attribute__((packed)) {
        char before;
        int number;
        double real;
    } packed;
    static __int128 wide, bits;
    static int mixed[100], sum;
#pragma omp parallel for
    for (int i = 0; i < 100; i++) {
        mixed[i] = i;
#pragma omp atomic
        mixed[i] += 1;
#pragma omp atomic
        packed.number += i;
#pragma omp atomic
        packed.real += 0.5;
#pragma omp atomic
        wide += (__int128)i << 60;
#pragma omp atomic
        bits |= (__int128)1 << i;
    }
    for (int i = 0; i < 100; i++)
        sum += mixed[i];
    printf("packed, __int128: %d %g %lld %llx %d, %d\n", packed.number,
           packed.real, (long long)(wide >> 60),
           (unsigned long long)(bits >> 64), packed.before, sum);
}

int main(void)
{
    integer_char();
    integer_uchar();
    integer_short();
    integer_ushort();
    integer_int();
    integer_unsigned();
    integer_long();
    integer_ull();
    real_float();
    real_double();
    real_ldouble();
    reductions();
    builtins();
    flushes();
    messages();
    long_words();
    long_stores();
    unusual();
    return 0;
}
