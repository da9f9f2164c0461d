/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions of basic types for one instruction set. Included once for each
 * set; TARGET is the functions' attribute, OF_SET makes their names. Buffers
 * may have any alignment and any declared type, so elements are accessed as
 * unaligned and may_alias. The result is an operand or overlaps none:
 * iterations are independent.
 */
#define ANYWHERE __attribute__((aligned(1), may_alias))

/* work: for signed integers the unsigned type, which may wrap around and gives
 * the same bits. */
#define COMBINE(name, type, work, expression)                                  \
    TARGET static void OF_SET(name)(void *context, const void *left,           \
                                    const void *right, void *result,           \
                                    size_t count)                              \
    {                                                                          \
        typedef type ANYWHERE place;                                           \
        const place *x = left, *y = right;                                     \
        place *to = result;                                                    \
        (void)context;                                                         \
        _Pragma("omp simd") for (size_t i = 0; i < count; i++)                 \
        {                                                                      \
            const work a = (work)x[i], b = (work)y[i];                         \
            to[i] = (type)(expression);                                        \
        }                                                                      \
    }

/* Instructions return the first of two NaNs, and compilers swap operands: so if
 * the left operand is a NaN, use it for both. For integers this is b. */
#define UNLESS_NAN(b) (a != a ? a : b)

#define NUMBERS(suffix, type, work)                                            \
    COMBINE(sum_##suffix, type, work, a + UNLESS_NAN(b))                       \
    COMBINE(prod_##suffix, type, work, a *UNLESS_NAN(b))                       \
    COMBINE(min_##suffix, type, type, b < a ? b : a)                           \
    COMBINE(max_##suffix, type, type, b > a ? b : a)                           \
    COMBINE(land_##suffix, type, type, a != 0 && b != 0)                       \
    COMBINE(lor_##suffix, type, type, a != 0 || b != 0)                        \
    COMBINE(lxor_##suffix, type, type, (a != 0) != (b != 0))

#define INTEGERS(suffix, type, work)                                           \
    NUMBERS(suffix, type, work)                                                \
    COMBINE(band_##suffix, type, type, a &b)                                   \
    COMBINE(bor_##suffix, type, type, a | b)                                   \
    COMBINE(bxor_##suffix, type, type, a ^ b)

INTEGERS(int8, int8_t, uint32_t)
INTEGERS(int16, int16_t, uint32_t)
INTEGERS(int32, int32_t, uint32_t)
INTEGERS(int64, int64_t, uint64_t)
INTEGERS(uint8, uint8_t, uint32_t)
INTEGERS(uint16, uint16_t, uint32_t)
INTEGERS(uint32, uint32_t, uint32_t)
INTEGERS(uint64, uint64_t, uint64_t)
NUMBERS(float, float, float)
NUMBERS(double, double, double)

#define BASIC(type, function)                                                  \
    {                                                                          \
        .element = sizeof(type), .combine = function, .commutes = true         \
    }

#define OF_NUMBERS(suffix, type)                                               \
    [DCOLL_SUM] = BASIC(type, OF_SET(sum_##suffix)),                           \
    [DCOLL_PROD] = BASIC(type, OF_SET(prod_##suffix)),                         \
    [DCOLL_MIN] = BASIC(type, OF_SET(min_##suffix)),                           \
    [DCOLL_MAX] = BASIC(type, OF_SET(max_##suffix)),                           \
    [DCOLL_LAND] = BASIC(type, OF_SET(land_##suffix)),                         \
    [DCOLL_LOR] = BASIC(type, OF_SET(lor_##suffix)),                           \
    [DCOLL_LXOR] = BASIC(type, OF_SET(lxor_##suffix))

#define OF_INTEGERS(suffix, type)                                              \
    OF_NUMBERS(suffix, type),                                                  \
        [DCOLL_BAND] = BASIC(type, OF_SET(band_##suffix)),                     \
        [DCOLL_BOR] = BASIC(type, OF_SET(bor_##suffix)),                       \
        [DCOLL_BXOR] = BASIC(type, OF_SET(bxor_##suffix))

static const dcoll_reduction_t
    OF_SET(reductions)[DCOLL_TYPES][DCOLL_OPERATORS] = {
        [DCOLL_INT8] = {OF_INTEGERS(int8, int8_t)},
        [DCOLL_INT16] = {OF_INTEGERS(int16, int16_t)},
        [DCOLL_INT32] = {OF_INTEGERS(int32, int32_t)},
        [DCOLL_INT64] = {OF_INTEGERS(int64, int64_t)},
        [DCOLL_UINT8] = {OF_INTEGERS(uint8, uint8_t)},
        [DCOLL_UINT16] = {OF_INTEGERS(uint16, uint16_t)},
        [DCOLL_UINT32] = {OF_INTEGERS(uint32, uint32_t)},
        [DCOLL_UINT64] = {OF_INTEGERS(uint64, uint64_t)},
        [DCOLL_FLOAT] = {OF_NUMBERS(float, float)},
        [DCOLL_DOUBLE] = {OF_NUMBERS(double, double)},
};
