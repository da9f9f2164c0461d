/* SPDX-License-Identifier: BSD-3-Clause */
#include "layer.h"

/* The latest named type that was plain, as almost all are in most programs:
 * it stays what it is. size 0: none yet. */
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
    return type == MPI_DATATYPE_NULL || PMPI_Type_size_x(type, &size) ? -1
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

/* A named type without gaps. Types of pairs (MPI_DOUBLE_INT) may have some. */
static bool is_dense(MPI_Datatype type)
{
    MPI_Aint low, extent;
    int size;
    if (PMPI_Type_size(type, &size) ||
        PMPI_Type_get_extent(type, &low, &extent) || low != 0 || extent != size)
        return false;
    latest.type = type;
    latest.size = size;
    return true;
}

bool data_is_plain(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    if (data_stays_plain(type))
        return true;
    if (PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner))
        return false;
    if (combiner == MPI_COMBINER_NAMED)
        return is_dense(type);
    if (combiner != MPI_COMBINER_CONTIGUOUS && combiner != MPI_COMBINER_DUP)
        return false;
    /* of one other type, with one integer at most */
    int count;
    MPI_Aint none;
    MPI_Datatype inner;
    if (PMPI_Type_get_contents(type, integers, addresses, types, &count, &none,
                               &inner))
        return false;
    bool plain = data_is_plain(inner);
    if (!PMPI_Type_get_envelope(inner, &integers, &addresses, &types,
                                &combiner) &&
        combiner != MPI_COMBINER_NAMED)
        PMPI_Type_free(&inner);
    return plain;
}

static bool is_named(MPI_Datatype type)
{
    int integers, addresses, types, combiner;
    return !PMPI_Type_get_envelope(type, &integers, &addresses, &types,
                                   &combiner) &&
           combiner == MPI_COMBINER_NAMED;
}

int data_keep(MPI_Datatype type, MPI_Datatype *kept)
{
    if (!is_named(type))
        return PMPI_Type_dup(type, kept);
    *kept = type;
    return MPI_SUCCESS;
}

void data_release(MPI_Datatype *kept)
{
    if (!is_named(*kept))
        PMPI_Type_free(kept);
}
