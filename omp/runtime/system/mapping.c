/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls of the program (omp/wrapper/program_io.c, program_system.c and
 * program_mapping.c). On several ranks any rank may unmap what another one has
 * mapped, also in parts. The block goes back to the heap with its last page. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

void railomp_prepare(const void *start, size_t bytes, bool writable)
{
    memory_prepare(start, bytes, writable);
}

void railomp_no_descriptor(int fd, const char *function)
{
    if (fd > STDERR_FILENO && memory_rank())
        fail(NOT_SERVED,
             "%s() is not served for descriptor %d, which another rank has "
             "opened: open the file in this rank, too",
             function, fd);
    errno = EBADF;
}

/* ------------------------------------------------------------- mapped pages */

enum { PAGE = 4096 };

/* In a list in shared memory. */
struct mapping {
    struct mapping *next;
    char *block; /* of the heap */
    char *start;
    size_t bytes, left; /* that are not unmapped */
};

static size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE - 1) & -(size_t)PAGE;
}

/* Fills memory that is zero with the file. False: it can't be read. */
static bool copy_file(char *to, size_t bytes, int fd, off_t offset)
{
    ssize_t got = 1;
    memory_prepare(to, bytes, true);
    for (size_t done = 0; got > 0 && done < bytes; done += (size_t)got) {
        got = pread(fd, to + done, bytes - done, offset + (off_t)done);
        if (got < 0)
            return false;
    }
    return true;
}

/* True: it is in the list. */
static bool add(struct mapping *mapping, size_t bytes, int fd, off_t offset)
{
    struct shared_mappings *all = &shared_words->mappings;
    mapping->block = memory_calloc(bytes + PAGE);
    if (!mapping->block)
        return false;
    mapping->start = (char *)whole_pages((uintptr_t)mapping->block);
    mapping->bytes = mapping->left = bytes;
    if (fd >= 0 && !copy_file(mapping->start, bytes, fd, offset)) {
        memory_free(mapping->block);
        return false;
    }
    memory_lock(&all->lock);
    mapping->next = all->first;
    all->first = mapping;
    memory_unlock(&all->lock);
    return true;
}

void *railomp_map(size_t bytes, int fd, off_t offset)
{
    if (memory_ranks() == 1 || !bytes || bytes > SIZE_MAX / 2 || offset % PAGE)
        return NULL;
    struct mapping *mapping = memory_malloc(sizeof *mapping);
    if (mapping && add(mapping, whole_pages(bytes), fd, offset))
        return mapping->start;
    memory_free(mapping);
    return fd < 0 ? MAP_FAILED : NULL;
}

/* The place in the list of what has @start, or of its end. */
static struct mapping **find(const char *start)
{
    struct mapping **place = &shared_words->mappings.first;
    while (*place && (start < (*place)->start ||
                      start >= (*place)->start + (*place)->bytes))
        place = &(*place)->next;
    return place;
}

bool railomp_unmap(void *start, size_t bytes)
{
    struct shared_mappings *all = &shared_words->mappings;
    struct mapping *last = NULL;
    if (memory_ranks() == 1)
        return false;
    bytes = whole_pages(bytes);
    memory_lock(&all->lock);
    struct mapping **place = find(start), *found = *place;
    if (found) {
        found->left -= bytes < found->left ? bytes : found->left;
        if (!found->left) {
            last = found;
            *place = found->next;
        }
    }
    memory_unlock(&all->lock);
    if (last) {
        memory_free(last->block);
        memory_free(last);
    }
    return found;
}

void railomp_remaps(const void *start)
{
    if (memory_ranks() > 1 && memory_is_shared(start))
        fail(NOT_SERVED, "mremap of shared memory is not served on several "
                         "ranks: its pages have their places");
}
