/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of a program's functions and variables. */
#include "unit.h"

#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "omp/runtime/statistics/symbols.h"
#include "tests/stand_in.h"

static int other_file = -1; /* in place of the next that is opened */

STAND_IN int open(const char *path, int flags, ...)
{
    const int fd = other_file;
    other_file = -1;
    return fd >= 0 ? fd : openat(AT_FDCWD, path, flags & ~O_CREAT);
}

int a_variable[100] = {1};

static const struct symbol *named(const struct symbol *all, size_t count,
                                  const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}

static void own_symbols(void **state)
{
    size_t count;
    const struct symbol *all = symbols_read(&count);
    const struct symbol *found = named(all, count, "a_variable");
    assert_non_null(found);
    assert_int_equal(found->bytes, sizeof a_variable);
    assert_non_null(named(all, count, "main"));
    free((void *)all);
}

/* This program, whose names end without a zero. */
static void names_without_end(void **state)
{
    const int own = open("/proc/self/exe", O_RDONLY);
    const int copy = memfd_create("copy", 0);
    struct stat s;
    size_t count;
    assert_int_equal(fstat(own, &s), 0);
    const size_t bytes = (size_t)s.st_size;
    assert_int_equal(ftruncate(copy, s.st_size), 0);
    char *to = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, copy, 0);
    assert_ptr_not_equal(to, MAP_FAILED);
    assert_int_equal(pread(own, to, bytes, 0), bytes);
    const ElfW(Ehdr) *head = (const void *)to;
    const ElfW(Shdr) *section = (const void *)(to + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_STRTAB)
            to[section[i].sh_offset + section[i].sh_size - 1] = 'x';
    other_file = copy;
    assert_null(symbols_read(&count));
    assert_int_equal(count, 0);
    munmap(to, bytes);
    close(own);
}

static size_t common(const struct symbol *s, uintptr_t start, size_t bytes)
{
    size_t n = 0;
    for (uintptr_t at = start; at < start + bytes; at++)
        n += at >= s->start && at < s->start + s->bytes;
    return n;
}

/* The one with most bytes, of some that overlap; the first of equal ones. */
static void most_bytes(void **state)
{
    struct symbol all[] = {
        {.start = 10, .bytes = 100, .reach = 110},
        {.start = 10, .bytes = 5, .reach = 110},
        {.start = 20, .bytes = 4, .reach = 110},
        {.start = 120, .bytes = 8, .reach = 128},
        {.start = 130, .bytes = 40, .reach = 170},
        {.start = 140, .bytes = 2, .reach = 170},
    };
    enum { COUNT = sizeof all / sizeof *all };
    for (uintptr_t start = 0; start < 200; start++)
        for (size_t bytes = 1; bytes < 70; bytes++) {
            const struct symbol *expected = NULL;
            size_t most = 0;
            for (size_t i = 0; i < COUNT; i++)
                if (common(&all[i], start, bytes) > most) {
                    expected = &all[i];
                    most = common(expected, start, bytes);
                }
            assert_ptr_equal(symbols_in(all, COUNT, start, bytes), expected);
        }
    assert_null(symbols_in(NULL, 0, 1, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_symbols),
        cmocka_unit_test(names_without_end),
        cmocka_unit_test(most_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
