/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of several ranks: the list of them is there only under its lock. */
#include "unit.h"

#undef fail /* cmocka's */
#include "omp/runtime/fail.h"
#include "omp/runtime/files.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

static struct shared_words words;
struct shared_words *shared_words = &words;
static struct shared_files hidden;
static bool is_held;
static unsigned rank;
static uint64_t acquisitions;

static void swap_lists(void)
{
    const struct shared_files shown = words.files;
    words.files = hidden;
    words.files.lock = shown.lock;
    hidden = shown;
}

void memory_lock(uint32_t *word)
{
    assert_true(word == &words.files.lock && !is_held);
    is_held = true;
    acquisitions++;
    swap_lists();
}

void memory_unlock(uint32_t *word)
{
    assert_true(word == &words.files.lock && is_held);
    is_held = false;
    swap_lists();
}

unsigned memory_rank(void)
{
    return rank;
}

unsigned memory_ranks(void)
{
    return 2;
}

uint64_t memory_acquisitions(void)
{
    return acquisitions;
}

void *memory_malloc(size_t bytes)
{
    return malloc(bytes);
}

void memory_free(void *p)
{
    free(p);
}

void fail(int status, const char *format, ...)
{
    abort();
}

/* Rank 0 writes to a file of rank 1. */
static void lists_are_protected(void **state)
{
    char text[8] = {0}, library = 0;
    FILE *file = fmemopen(text, sizeof text, "w");
    assert_non_null(file);
    files_begin();
    rank = 1;
    assert_true(railomp_file_opened(file));
    assert_false(railomp_file_opened(file)); /* the address is taken */
    assert_ptr_equal(railomp_file_here(file), file);
    rank = 0; /* which shares the process here, but not the file */
    railomp_file_closes(file);
    railomp_file_closes(file);
    assert_null(railomp_file_here(file));
    assert_ptr_equal(railomp_file_here(&library), &library);
    railomp_file_write(file, "abc", 3);
    railomp_file_flush(file);
    assert_true(files_are_queued() && !files_are_queued());
    rank = 1;
    assert_false(railomp_file_opened(file));
    files_drain();
    assert_string_equal(text, "abc");
    railomp_file_closes(file);
    rank = 0; /* nor has rank 1 it now */
    assert_ptr_equal(railomp_file_here(file), file);
    assert_null(words.files.files);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_protected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
