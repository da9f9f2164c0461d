/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's types and operations for libdcoll. libdcoll itself combines basic
 * types; MPI_Reduce_local combines others, also by the program's own
 * operations.
 */
#include <pthread.h>
#include <string.h>

#include "mpi/run/operators.h"
#include "mpi/below/pmpi.h"

struct type {
    MPI_Datatype mpi;
    dcoll_type_t type;
};

struct op {
    MPI_Op mpi;
    dcoll_operator_t op;
};

/* Other types, which the MPI below combines. */
enum { REALS, COMPLEX, PAIRS, LOGICALS, BYTES };

struct other {
    MPI_Datatype mpi;
    int kind;
};

/* Filled at run time: handles of some MPIs are not constants. */
static struct known {
    struct type types[40];
    unsigned ntypes;
    struct op ops[DCOLL_OPERATORS];
    struct other others[16];
    unsigned nothers;
} known;

static void know_type(MPI_Datatype mpi, dcoll_type_t type)
{
    const dcoll_reduction_t *r = dcoll_reduction(type, DCOLL_SUM);
    int size;
    if (mpi != MPI_DATATYPE_NULL && !pmpi.Type_size(mpi, &size) &&
        (size_t)size == r->element)
        known.types[known.ntypes++] = (struct type){mpi, type};
}

static void know_other(MPI_Datatype mpi, int kind)
{
    if (mpi != MPI_DATATYPE_NULL)
        known.others[known.nothers++] = (struct other){mpi, kind};
}

static dcoll_type_t integer(size_t bytes, bool is_signed)
{
    const dcoll_type_t first = is_signed ? DCOLL_INT8 : DCOLL_UINT8;
    return first + (bytes > 1) + (bytes > 2) + (bytes > 4);
}

static void know(void)
{
    const struct op ops[] = {{MPI_SUM, DCOLL_SUM},   {MPI_MAX, DCOLL_MAX},
                             {MPI_MIN, DCOLL_MIN},   {MPI_PROD, DCOLL_PROD},
                             {MPI_LAND, DCOLL_LAND}, {MPI_LOR, DCOLL_LOR},
                             {MPI_LXOR, DCOLL_LXOR}, {MPI_BAND, DCOLL_BAND},
                             {MPI_BOR, DCOLL_BOR},   {MPI_BXOR, DCOLL_BXOR}};
    memcpy(known.ops, ops, sizeof ops);
    know_type(MPI_DOUBLE, DCOLL_DOUBLE);
    know_type(MPI_INT, integer(sizeof(int), true));
    know_type(MPI_FLOAT, DCOLL_FLOAT);
    know_type(MPI_LONG, integer(sizeof(long), true));
    know_type(MPI_LONG_LONG, integer(sizeof(long long), true));
    know_type(MPI_UNSIGNED, integer(sizeof(unsigned), false));
    know_type(MPI_UNSIGNED_LONG, integer(sizeof(unsigned long), false));
    know_type(MPI_UNSIGNED_LONG_LONG,
              integer(sizeof(unsigned long long), false));
    know_type(MPI_SIGNED_CHAR, DCOLL_INT8);
    know_type(MPI_UNSIGNED_CHAR, DCOLL_UINT8);
    know_type(MPI_SHORT, integer(sizeof(short), true));
    know_type(MPI_UNSIGNED_SHORT, integer(sizeof(unsigned short), false));
    know_type(MPI_INT8_T, DCOLL_INT8);
    know_type(MPI_INT16_T, DCOLL_INT16);
    know_type(MPI_INT32_T, DCOLL_INT32);
    know_type(MPI_INT64_T, DCOLL_INT64);
    know_type(MPI_UINT8_T, DCOLL_UINT8);
    know_type(MPI_UINT16_T, DCOLL_UINT16);
    know_type(MPI_UINT32_T, DCOLL_UINT32);
    know_type(MPI_UINT64_T, DCOLL_UINT64);
    know_type(MPI_AINT, integer(sizeof(MPI_Aint), true));
    know_type(MPI_COUNT, integer(sizeof(MPI_Count), true));
    know_type(MPI_OFFSET, integer(sizeof(MPI_Offset), true));
    know_type(MPI_DOUBLE_PRECISION, DCOLL_DOUBLE);
    know_type(MPI_REAL8, DCOLL_DOUBLE);
    know_type(MPI_REAL, DCOLL_FLOAT);
    know_type(MPI_REAL4, DCOLL_FLOAT);
    know_type(MPI_INTEGER, DCOLL_INT32);
    know_type(MPI_INTEGER1, DCOLL_INT8);
    know_type(MPI_INTEGER2, DCOLL_INT16);
    know_type(MPI_INTEGER4, DCOLL_INT32);
    know_type(MPI_INTEGER8, DCOLL_INT64);
    know_other(MPI_LONG_DOUBLE, REALS);
    know_other(MPI_C_FLOAT_COMPLEX, COMPLEX);
    know_other(MPI_C_DOUBLE_COMPLEX, COMPLEX);
    know_other(MPI_COMPLEX, COMPLEX);
    know_other(MPI_DOUBLE_COMPLEX, COMPLEX);
    know_other(MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX);
    know_other(MPI_2INT, PAIRS);
    know_other(MPI_FLOAT_INT, PAIRS);
    know_other(MPI_2INTEGER, PAIRS);
    know_other(MPI_2REAL, PAIRS);
    know_other(MPI_2DOUBLE_PRECISION, PAIRS);
    know_other(MPI_LOGICAL, LOGICALS);
    know_other(MPI_C_BOOL, LOGICALS);
    know_other(MPI_BYTE, BYTES);
}

static void know_all(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, know);
}

/* The thread's latest answer: most programs use few types and operations. */
static _Thread_local struct {
    MPI_Datatype type;
    MPI_Op op;
    const dcoll_reduction_t *basic; /* NULL: nothing yet */
    bool exact;
} latest;

static bool look_up(MPI_Datatype type, MPI_Op op)
{
    const struct type *t = known.types, *end = t + known.ntypes;
    const struct op *o = known.ops, *last = o + DCOLL_OPERATORS;
    while (o < last && o->mpi != op)
        o++;
    while (t < end && t->mpi != type)
        t++;
    const dcoll_reduction_t *basic =
        o < last && t < end ? dcoll_reduction(t->type, o->op) : NULL;
    if (!basic)
        return false;
    latest.type = type;
    latest.op = op;
    latest.basic = basic;
    latest.exact = t->type != DCOLL_FLOAT && t->type != DCOLL_DOUBLE;
    return true;
}

static bool is_latest(MPI_Datatype type, MPI_Op op)
{
    if (latest.basic && latest.type == type && latest.op == op)
        return true;
    know_all();
    return look_up(type, op);
}

const dcoll_reduction_t *operators_basic(MPI_Datatype type, MPI_Op op)
{
    return is_latest(type, op) ? latest.basic : NULL;
}

bool operators_are_exact(MPI_Datatype type, MPI_Op op)
{
    return is_latest(type, op) && latest.exact;
}

static bool is_own(MPI_Op op)
{
    for (unsigned i = 0; i < DCOLL_OPERATORS; i++)
        if (known.ops[i].mpi == op)
            return false;
    return op != MPI_MINLOC && op != MPI_MAXLOC && op != MPI_REPLACE &&
           op != MPI_NO_OP;
}

static bool goes_with(MPI_Op op, int kind)
{
    switch (kind) {
    case PAIRS:
        return op == MPI_MINLOC || op == MPI_MAXLOC;
    case LOGICALS:
        return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
    case BYTES:
        return op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR;
    case REALS:
        if (op == MPI_MIN || op == MPI_MAX)
            return true;
        /* fall through */
    default:
        return op == MPI_SUM || op == MPI_PROD;
    }
}

bool operators_can(MPI_Datatype type, MPI_Op op)
{
    if (operators_basic(type, op) || is_own(op))
        return true;
    for (unsigned i = 0; i < known.nothers; i++)
        if (known.others[i].mpi == type)
            return goes_with(op, known.others[i].kind);
    return false;
}

/* MPI_Reduce_local computes right = left op right. */
static void combine(void *context, const void *left, const void *right,
                    void *result, size_t count)
{
    struct operation *o = context;
    const size_t element = o->reduction.element;
    const char *x = left, *y = right;
    char *to = result;
    while (count && !o->rc) {
        const size_t n = count < o->elements ? count : o->elements;
        void *at = left == result ? o->scratch : to;
        if (right != result)
            memcpy(at, y, n * element);
        o->rc = pmpi.Reduce_local(x, at, (int)n, o->type, o->op);
        if (left == result)
            memcpy(to, at, n * element);
        x += n * element;
        y += n * element;
        to += n * element;
        count -= n;
    }
}

void operators_open(struct operation *o, MPI_Datatype type, MPI_Op op,
                    size_t element, void *scratch, size_t bytes)
{
    const dcoll_reduction_t *basic = operators_basic(type, op);
    *o = (struct operation){.type = type,
                            .op = op,
                            .scratch = scratch,
                            .elements = bytes / element,
                            .rc = MPI_SUCCESS};
    o->reduction = basic ? *basic
                         : (dcoll_reduction_t){.element = element,
                                               .combine = combine,
                                               .context = o};
}
