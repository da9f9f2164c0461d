/* SPDX-License-Identifier: BSD-3-Clause */
/* The mapping behind memory: both ways to learn it agree, and are right. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"
#include "providers/shm/memory/mapping.h"

#define PAGE  4096u
#define BYTES (4 * PAGE)

static int fd;
static struct stat file;

static uint64_t map(int prot, int flags, int from, off_t offset)
{
    void *p = mmap(NULL, BYTES, prot, flags, from, offset);
    assert_true(p != MAP_FAILED);
    return (uintptr_t)p;
}

static void unmap(uint64_t at)
{
    assert_int_equal(munmap((void *)(uintptr_t)at, BYTES), 0);
}

/* @return offset in the file, or -1: none. */
static int64_t offset_of(uint64_t base, uint64_t length)
{
    struct shm_mapping told = {0}, read = {0}, asked = {0};
    bool found = shm_mapping_find(base, length, &told);
    assert_int_equal(shm_mapping_read(base, length, &read), found);
    int way = shm_mapping_ask(base, length, &asked);
    assert_true(way < 0 || (way > 0) == found); /* older kernels can't */
    if (!found)
        return -1;
    assert_int_equal(told.inode, file.st_ino);
    assert_int_equal(told.device, file.st_dev);
    assert_memory_equal(&read, &told, sizeof told);
    if (way > 0)
        assert_memory_equal(&asked, &told, sizeof told);
    return (int64_t)told.offset;
}

static void shared_file(void **state)
{
    uint64_t at = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd, PAGE);
    assert_int_equal(offset_of(at, BYTES), PAGE);
    assert_int_equal(offset_of(at + 100, 1), PAGE + 100);
    assert_int_equal(offset_of(at + BYTES - 1, 1), PAGE + BYTES - 1);
    assert_int_equal(offset_of(at + 1, UINT64_MAX), -1);
    unmap(at);
    assert_int_equal(offset_of(at, 1), -1);
}

/* The page behind is another's. */
static void beyond_its_end(void **state)
{
    uint64_t at = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(mmap((void *)(uintptr_t)(at + BYTES - PAGE), PAGE, PROT_READ,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                     0) != MAP_FAILED);
    assert_int_equal(offset_of(at, BYTES - PAGE), 0);
    assert_int_equal(offset_of(at, BYTES - PAGE + 1), -1);
    unmap(at);
}

/* The kernel may not say: see mapping.h. */
static void the_stack(void **state)
{
    struct shm_vma vma;
    uint64_t file_at = map(PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    uint64_t anonymous =
        map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int maps = shm_maps_open();
    bool told = shm_vma_from(maps, anonymous, &vma) > 0;
    assert_true(shm_vma_is_stack(maps, (uintptr_t)__builtin_frame_address(0)));
    assert_int_equal(shm_vma_is_stack(maps, anonymous), !told);
    assert_int_equal(shm_vma_is_stack(maps, file_at), !told);
    close(maps);
    unmap(anonymous);
    unmap(file_at);
}

static void other_memory(void **state)
{
    uint64_t private = map(PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    uint64_t read_only = map(PROT_READ, MAP_SHARED, fd, 0);
    uint64_t anonymous =
        map(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(offset_of(private, BYTES), -1);
    assert_int_equal(offset_of(read_only, BYTES), -1);
    assert_int_equal(offset_of(anonymous, BYTES), -1);
    assert_int_equal(offset_of((uintptr_t) & private, sizeof private), -1);
    assert_int_equal(offset_of(0, 1), -1);
    unmap(private);
    unmap(read_only);
    unmap(anonymous);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_file),
        cmocka_unit_test(beyond_its_end),
        cmocka_unit_test(the_stack),
        cmocka_unit_test(other_memory),
    };
    fd = memfd_create("mapping", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 2 * BYTES) || fstat(fd, &file))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
