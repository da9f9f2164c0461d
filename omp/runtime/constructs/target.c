/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices: there is none, so a target region runs in the thread that meets it,
 * on the program's own variables. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* gomp-constants.h; the low byte of a kind of mapping says how, the others are
 * the binary logarithm of the alignment */
enum { MAP_KIND = 0xff, MAP_FIRSTPRIVATE = 0x0c };

typedef void (*region_t)(void *);

/* ------------------------------------------------------------ the regions */

/* The copies of firstprivate variables that a target region has. */
struct copies {
    size_t count; /* of all variables of the region */
    void **addresses;
    const size_t *sizes;
    const unsigned short *kinds;
};

static bool is_copied(const struct copies *c, size_t i)
{
    return (c->kinds[i] & MAP_KIND) == MAP_FIRSTPRIVATE && c->sizes[i] &&
           c->addresses[i]; /* NULL: an optional argument that is absent */
}

static size_t alignment_of(const struct copies *c, size_t i)
{
    return (size_t)1 << (c->kinds[i] >> 8);
}

static void copy_in(const struct copies *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (!is_copied(c, i))
            continue;
        void *own = memory_aligned_alloc(alignment_of(c, i), c->sizes[i]);
        if (!own)
            fail(FAILED, "out of memory for a firstprivate variable");
        c->addresses[i] = memcpy(own, c->addresses[i], c->sizes[i]);
    }
}

static void free_copies(const struct copies *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (is_copied(c, i))
            memory_free(c->addresses[i]);
}

static void await(void **depend)
{
    if (depend)
        task_await_depend(self(), depend);
}

/* A region with nowait is over when this returns, too. What it has of others is
 * copied before it waits for them. A thread of several runs it in a team of its
 * own, which loops and barriers in it belong to. */
void GOMP_target_ext(int device, region_t region, size_t count,
                     void **addresses, size_t *sizes, unsigned short *kinds,
                     unsigned flags, void **depend, void **clauses)
{
    const struct copies copies = {count, addresses, sizes, kinds};
    (void)device, (void)flags, (void)clauses;
    copy_in(&copies);
    await(depend);
    if (self()->team->threads > 1)
        team_run(region, addresses, TEAM_PLAIN, 1);
    else
        region(addresses);
    free_copies(&copies);
}

void GOMP_target_data_ext(int device, size_t count, void **addresses,
                          size_t *sizes, unsigned short *kinds)
{
    (void)device, (void)count, (void)addresses, (void)sizes, (void)kinds;
}

void GOMP_target_end_data(void)
{
}

#define TARGET_DATA(name)                                                      \
    void GOMP_target_##name(int device, size_t count, void **addresses,        \
                            size_t *sizes, unsigned short *kinds,              \
                            unsigned flags, void **depend)                     \
    {                                                                          \
        (void)device, (void)count, (void)addresses, (void)sizes, (void)kinds;  \
        (void)flags;                                                           \
        await(depend);                                                         \
    }
TARGET_DATA(update_ext)
TARGET_DATA(enter_exit_data)

/* ------------------------------------------------- memory of "the device" */

void *omp_target_alloc(size_t bytes, int device)
{
    (void)device;
    return bytes ? memory_malloc(bytes) : NULL;
}

void omp_target_free(void *p, int device)
{
    (void)device;
    memory_free(p);
}

int omp_target_is_present(const void *p, int device)
{
    (void)p, (void)device;
    return 1;
}

int omp_target_memcpy(void *to, const void *from, size_t bytes,
                      size_t to_offset, size_t from_offset, int to_device,
                      int from_device)
{
    (void)to_device, (void)from_device;
    memcpy((char *)to + to_offset, (const char *)from + from_offset, bytes);
    return 0;
}

/* Dimension 0 of the rest of a block: offsets and extents are of this rest. */
static void copy_block(char *to, const char *from, size_t element,
                       int dimensions, const size_t *volume,
                       const size_t *to_offset, const size_t *from_offset,
                       const size_t *to_extent, const size_t *from_extent)
{
    size_t to_row = element, from_row = element;
    for (int d = 1; d < dimensions; d++) {
        to_row *= to_extent[d];
        from_row *= from_extent[d];
    }
    to += *to_offset * to_row;
    from += *from_offset * from_row;
    if (dimensions == 1) {
        memcpy(to, from, *volume * element);
        return;
    }
    for (size_t i = 0; i < *volume; i++)
        copy_block(to + i * to_row, from + i * from_row, element,
                   dimensions - 1, volume + 1, to_offset + 1, from_offset + 1,
                   to_extent + 1, from_extent + 1);
}

/* Without memory it returns how many dimensions it serves. */
int omp_target_memcpy_rect(void *to, const void *from, size_t element,
                           int dimensions, const size_t *volume,
                           const size_t *to_offset, const size_t *from_offset,
                           const size_t *to_extent, const size_t *from_extent,
                           int to_device, int from_device)
{
    (void)to_device, (void)from_device;
    if (!to && !from)
        return INT32_MAX;
    if (dimensions < 1)
        return -1;
    copy_block(to, from, element, dimensions, volume, to_offset, from_offset,
               to_extent, from_extent);
    return 0;
}

/* Errors: only memory of a device is associated. */
int omp_target_associate_ptr(const void *host, const void *device_memory,
                             size_t bytes, size_t offset, int device)
{
    (void)host, (void)device_memory, (void)bytes, (void)offset, (void)device;
    return -1;
}

int omp_target_disassociate_ptr(const void *p, int device)
{
    (void)p, (void)device;
    return -1;
}
