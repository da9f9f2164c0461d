/* SPDX-License-Identifier: BSD-3-Clause */
/* Size and layout of datatypes. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mpi/run/run.h"

/* The thread's latest predefined type that was contiguous: most programs use
 * few. size 0: none yet. */
static _Thread_local struct {
    MPI_Datatype type;
    int64_t size;
} latest;

bool datatype_stays_contiguous(MPI_Datatype type)
{
    return latest.size && latest.type == type;
}

/* Bytes of an element; -1: wrong. */
static int64_t size_of(MPI_Datatype type)
{
    MPI_Count size;
    if (datatype_stays_contiguous(type))
        return latest.size;
    return type == MPI_DATATYPE_NULL || pmpi.Type_size_x(type, &size) ? -1
                                                                      : size;
}

int64_t datatype_bytes(MPI_Count count, MPI_Datatype type)
{
    int64_t bytes, size = size_of(type);
    if (count < 0 || size < 0)
        return -1;
    return __builtin_mul_overflow(count, size, &bytes) ? INT64_MAX : bytes;
}

/* --------------------------------------------------------- construction --- */

/* How a type was made (MPI_Type_get_envelope). */
struct envelope {
    int integers, addresses, types, combiner;
    bool large; /* by a function with large counts */
};

/* Of MPI 4; the MPI that is loaded may lack it, whatever its header says. */
typedef int get_envelope_c(MPI_Datatype, MPI_Count *integers,
                           MPI_Count *addresses, MPI_Count *large_counts,
                           MPI_Count *types, int *combiner);

static get_envelope_c *envelope_c;

static void look_for_envelope_c(void)
{
    *(void **)&envelope_c = dlsym(RTLD_DEFAULT, "PMPI_Type_get_envelope_c");
}

static get_envelope_c *find_envelope_c(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_envelope_c);
    return envelope_c;
}

/* For a type made with large counts, MPI_Type_get_envelope would call the error
 * handler of MPI_COMM_WORLD. */
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

/* Nobody frees it: named, or made by MPI_Type_create_f90_real and its kind. */
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

/* Has it no gaps? Pairs (MPI_DOUBLE_INT) may have some. */
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

bool datatype_is_contiguous(MPI_Datatype type)
{
    struct envelope e;
    if (datatype_stays_contiguous(type))
        return true;
    if (!open_envelope(type, &e))
        return false;
    if (is_predefined(&e))
        return is_dense(type);
    if (e.large || (e.combiner != MPI_COMBINER_CONTIGUOUS &&
                    e.combiner != MPI_COMBINER_DUP))
        return false;
    /* made of one type, with at most one integer */
    int count;
    MPI_Aint none;
    MPI_Datatype inner;
    if (pmpi.Type_get_contents(type, e.integers, e.addresses, e.types, &count,
                               &none, &inner))
        return false;
    bool contiguous = datatype_is_contiguous(inner);
    datatype_release(&inner);
    return contiguous;
}

int datatype_keep(MPI_Datatype type, MPI_Datatype *kept)
{
    if (!stays(type))
        return pmpi.Type_dup(type, kept);
    *kept = type;
    return MPI_SUCCESS;
}

void datatype_release(MPI_Datatype *kept)
{
    if (!stays(*kept))
        pmpi.Type_free(kept);
}

/* -------------------------------------------------------------- memory --- */

/* Asks the kernel. If it does not tell, there is memory. */
static bool is_mapped(uintptr_t address)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    unsigned char resident;
    return !mincore((void *)(address & ~(page - 1)), 1, &resident) ||
           errno != ENOMEM;
}

bool datatype_lacks_memory(const void *user, MPI_Aint at, MPI_Datatype type)
{
    MPI_Aint low, extent;
    if (user || pmpi.Type_get_true_extent(type, &low, &extent))
        return !user;
    return !is_mapped((uintptr_t)(at + low));
}
