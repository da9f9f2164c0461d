/* SPDX-License-Identifier: BSD-3-Clause */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hwloc.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/rails/locality.h"

struct locality {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed; /* the cores that this process may use */
};

struct locality *locality_open(void)
{
    struct locality *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->allowed = hwloc_bitmap_alloc();
    if (!l->allowed || hwloc_topology_init(&l->topology))
        goto fail;
    /* reading all PCI devices takes many milliseconds: only where there is
     * an adapter to be found */
    if (!access("/sys/class/infiniband", F_OK))
        hwloc_topology_set_io_types_filter(l->topology,
                                           HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(l->topology) ||
        hwloc_get_cpubind(l->topology, l->allowed, HWLOC_CPUBIND_THREAD)) {
        hwloc_topology_destroy(l->topology);
        goto fail;
    }
    return l;
fail:
    hwloc_bitmap_free(l->allowed);
    free(l);
    return NULL;
}

void locality_close(struct locality *l)
{
    if (!l)
        return;
    hwloc_topology_destroy(l->topology);
    hwloc_bitmap_free(l->allowed);
    free(l);
}

/* The PCI device's or package's place in the machine, or NULL. */
static hwloc_obj_t near_object(struct locality *l, const char *adapter)
{
    hwloc_obj_t obj = NULL;
    while ((obj = hwloc_get_next_osdev(l->topology, obj)))
        if (obj->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS && obj->name &&
            !strcmp(obj->name, adapter))
            return hwloc_get_non_io_ancestor_obj(l->topology, obj);
    return NULL;
}

void locality_of(struct locality *l, drail_rail_info_t *info)
{
    info->numa_node = -1;
    info->cpus[0] = '\0';
    hwloc_obj_t near = l ? near_object(l, info->adapter) : NULL;
    if (!near)
        return;
    if (near->nodeset && hwloc_bitmap_weight(near->nodeset) == 1)
        info->numa_node = hwloc_bitmap_first(near->nodeset);
    hwloc_bitmap_list_snprintf(info->cpus, sizeof info->cpus, near->cpuset);
}

static int nth(hwloc_const_bitmap_t set, unsigned n)
{
    int weight = hwloc_bitmap_weight(set);
    if (weight <= 0)
        return -1;
    int cpu = hwloc_bitmap_first(set);
    for (unsigned i = n % (unsigned)weight; i > 0; i--)
        cpu = hwloc_bitmap_next(set, cpu);
    return cpu;
}

int locality_core(struct locality *l, const drail_rail_info_t *info, unsigned n)
{
    if (!l)
        return -1;
    hwloc_obj_t near = near_object(l, info->adapter);
    if (!near)
        return nth(l->allowed, n);
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    if (!set)
        return -1;
    hwloc_bitmap_and(set, near->cpuset, l->allowed);
    int cpu = nth(hwloc_bitmap_iszero(set) ? l->allowed : set, n);
    hwloc_bitmap_free(set);
    return cpu;
}

unsigned locality_cores(struct locality *l)
{
    int n = l ? hwloc_bitmap_weight(l->allowed) : 0;
    return n > 0 ? (unsigned)n : 1;
}

bool locality_bind(int cpu, cpu_set_t *before)
{
    cpu_set_t set;
    if (cpu < 0 || sched_getaffinity(0, sizeof *before, before))
        return false;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    return !sched_setaffinity(0, sizeof set, &set);
}

void locality_unbind(const cpu_set_t *before)
{
    sched_setaffinity(0, sizeof *before, before);
}
