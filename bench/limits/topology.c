/* SPDX-License-Identifier: BSD-3-Clause */
#include <hwloc.h>
#include <stdlib.h>

#include "topology.h"

static uint64_t object_bytes(hwloc_obj_t obj)
{
    if (hwloc_obj_type_is_cache(obj->type))
        return obj->attr->cache.size;
    if (obj->type == HWLOC_OBJ_NUMANODE)
        return obj->attr->numanode.local_memory;
    return obj->type == HWLOC_OBJ_MACHINE ? obj->total_memory : 0;
}

static int append(topology_t *t, hwloc_obj_t obj, unsigned depth)
{
    topology_object_t *grown =
        realloc(t->objects, (t->count + 1) * sizeof *grown);
    if (!grown)
        return -1;
    t->objects = grown;
    topology_object_t *out = &grown[t->count++];
    *out = (topology_object_t){.depth = depth,
                               .index = obj->logical_index,
                               .bytes = object_bytes(obj)};
    hwloc_obj_type_snprintf(out->type, sizeof out->type, obj, 1);
    hwloc_bitmap_list_snprintf(out->cpus, sizeof out->cpus, obj->cpuset);
    return 0;
}

/* As deep as the machine is: a dozen levels. */
static int walk(topology_t *t, hwloc_obj_t obj, unsigned depth)
{
    int rc = append(t, obj, depth);
    for (hwloc_obj_t c = obj->memory_first_child; !rc && c; c = c->next_sibling)
        rc = walk(t, c, depth + 1);
    for (hwloc_obj_t c = obj->first_child; !rc && c; c = c->next_sibling)
        rc = walk(t, c, depth + 1);
    return rc;
}

int topology_describe(topology_t *t)
{
    hwloc_topology_t topology;
    *t = (topology_t){0};
    if (hwloc_topology_init(&topology))
        return -1;
    int rc = hwloc_topology_load(topology);
    if (!rc)
        rc = walk(t, hwloc_get_root_obj(topology), 0);
    hwloc_topology_destroy(topology);
    return rc;
}

void topology_free(topology_t *t)
{
    free(t->objects);
}
