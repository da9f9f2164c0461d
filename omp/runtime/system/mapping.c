/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program maps (omp/wrapper/program_mapping.c). On several ranks any
 * rank may unmap what another one has mapped, also in parts. The block goes
 * back to the heap with its last page. */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

enum { PAGE = 4096 };

/* In a list in shared memory. */
struct mapping {
    struct mapping *next;
    char *block; /* of the heap */
    char *start;
    size_t pages, left; /* that are not unmapped */
    bool is_unmapped[]; /* each page */
};

static size_t pages_of(size_t bytes)
{
    return bytes / PAGE + (bytes % PAGE != 0);
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
static bool add(struct mapping *mapping, size_t pages, int fd, off_t offset)
{
    struct shared_mappings *all = &shared_words->mappings;
    mapping->block = memory_calloc((pages + 1) * PAGE);
    if (!mapping->block)
        return false;
    mapping->start = (char *)(pages_of((uintptr_t)mapping->block) * PAGE);
    mapping->pages = mapping->left = pages;
    if (fd >= 0 && !copy_file(mapping->start, pages * PAGE, fd, offset)) {
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
    const size_t pages = pages_of(bytes);
    struct mapping *mapping = memory_calloc(sizeof *mapping + pages);
    if (mapping && add(mapping, pages, fd, offset))
        return mapping->start;
    memory_free(mapping);
    errno = ENOMEM;
    return fd < 0 ? MAP_FAILED : NULL;
}

/* The place in the list of what has @start, or of its end. */
static struct mapping **find(const char *start)
{
    struct mapping **place = &shared_words->mappings.first;
    while (*place && (start < (*place)->start ||
                      start >= (*place)->start + (*place)->pages * PAGE))
        place = &(*place)->next;
    return place;
}

/* A program may unmap a page twice. */
static void unmap(struct mapping *mapping, size_t first, size_t pages)
{
    for (size_t i = first; i < mapping->pages && i - first < pages; i++) {
        mapping->left -= !mapping->is_unmapped[i];
        mapping->is_unmapped[i] = true;
    }
}

bool railomp_unmap(void *start, size_t bytes)
{
    struct shared_mappings *all = &shared_words->mappings;
    struct mapping *last = NULL;
    if (memory_ranks() == 1 || !memory_is_shared(start) || !bytes ||
        bytes > SIZE_MAX / 2 || (uintptr_t)start % PAGE)
        return false;
    memory_lock(&all->lock);
    struct mapping **place = find(start), *found = *place;
    if (found) {
        unmap(found, (size_t)((char *)start - found->start) / PAGE,
              pages_of(bytes));
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
    return true;
}

void railomp_remaps(const void *start, size_t bytes, const char *what)
{
    const char *first = start;
    if (memory_ranks() > 1 && bytes &&
        (memory_is_shared(first) || memory_is_shared(first + bytes - 1)))
        fail(NOT_SERVED,
             "%s of shared memory is not served on several ranks: its pages "
             "stay as they are",
             what);
}
