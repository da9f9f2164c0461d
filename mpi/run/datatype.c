/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>

#include "mpi/layer.h"

/* The latest predefined type that was plain, as almost all are in most
 * programs: it stays what it is. size 0: none yet. */
static struct {
    MPI_Datatype type;
    int64_t size;
} latest;

bool data_stays_plain(MPI_Datatype type)
{
    return latest.size && latest.type == type;
}

/* Of one element; -1: wrong. */
static int64_t size_of(MPI_Datatype type)
{
    MPI_Count size;
    if (data_stays_plain(type))
        return latest.size;
    return type == MPI_DATATYPE_NULL || pmpi.Type_size_x(type, &size) ? -1
                                                                      : size;
}

/* An int may not hold the size of a type that another rank has no need of. */
int64_t data_bytes(MPI_Count count, MPI_Datatype type)
{
    int64_t bytes, size = size_of(type);
    if (count < 0 || size < 0)
        return -1;
    return __builtin_mul_overflow(count, size, &bytes) ? INT64_MAX : bytes;
}

/* --------------------------------------------------------- construction --- */

/* How a type was made, and of how many numbers and other types. */
struct envelope {
    int integers, addresses, types, combiner;
    bool large; /* with large counts */
};

/* That of MPI 4, which the MPI that is loaded may lack, whatever its header. */
typedef int get_envelope_c(MPI_Datatype, MPI_Count *integers,
                           MPI_Count *addresses, MPI_Count *large_counts,
                           MPI_Count *types, int *combiner);

static get_envelope_c *find_envelope_c(void)
{
    static get_envelope_c *found;
    static bool looked;
    if (!looked)
        *(void **)&found = dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c");
    looked = true;
    return found;
}

/* Of a type that was made with large counts, the call of before is an error of
 * which the handler of MPI_COMM_WORLD is told. */
static bool open_envelope(MPI_Datatype type, struct envelope *e)
{
    MPI_Count integers, addresses, larges, types;
    get_envelope_c *ask = find_envelope_c();
    e->large = false;
    if (!ask)
        return !pmpi.Type_get_envelope(type, &e->integers, &e->addresses,
                                       &e->types, &e->combiner);
    if (ask(type, &integers, &addresses, &larges, &types, &e->combiner))
        return false;
    e->integers = (int)integers;
    e->addresses = (int)addresses;
    e->types = (int)types;
    e->large = larges > 0;
    return true;
}

/* One of MPI's own, which nobody frees: also those with a precision of Fortran.
 */
static bool is_predefined(const struct envelope *e)
{
    return e->combiner == MPI_COMBINER_NAMED ||
           e->combiner == MPI_COMBINER_F90_REAL ||
           e->combiner == MPI_COMBINER_F90_COMPLEX ||
           e->combiner == MPI_COMBINER_F90_INTEGER;
}

static bool stays(MPI_Datatype type)
{
    struct envelope e;
    return open_envelope(type, &e) && is_predefined(&e);
}

/* A predefined type without gaps. Types of pairs (MPI_DOUBLE_INT) may have
 * some. */
static bool is_dense(MPI_Datatype type)
{
    MPI_Aint low, extent;
    int size;
    if (pmpi.Type_size(type, &size) ||
        pmpi.Type_get_extent(type, &low, &extent) || low != 0 || extent != size)
        return false;
    latest.type = type;
    latest.size = size;
    return true;
}

bool data_is_plain(MPI_Datatype type)
{
    struct envelope e;
    if (data_stays_plain(type))
        return true;
    if (!open_envelope(type, &e))
        return false;
    if (is_predefined(&e))
        return is_dense(type);
    if (e.large || (e.combiner != MPI_COMBINER_CONTIGUOUS &&
                    e.combiner != MPI_COMBINER_DUP))
        return false;
    /* of one other type, with one integer at most */
    int count;
    MPI_Aint none;
    MPI_Datatype inner;
    if (pmpi.Type_get_contents(type, e.integers, e.addresses, e.types, &count,
                               &none, &inner))
        return false;
    bool plain = data_is_plain(inner);
    data_release(&inner);
    return plain;
}

int data_keep(MPI_Datatype type, MPI_Datatype *kept)
{
    if (!stays(type))
        return pmpi.Type_dup(type, kept);
    *kept = type;
    return MPI_SUCCESS;
}

void data_release(MPI_Datatype *kept)
{
    if (!stays(*kept))
        pmpi.Type_free(kept);
}
