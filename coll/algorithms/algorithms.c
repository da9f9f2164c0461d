/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of all algorithms. */
#include <string.h>

#include "algorithms.h"

#define ROW(algorithm) &algorithm,
static const dcoll_algorithm_t *const table[] = {DCOLL_ALGORITHM_LIST(ROW)
                                                     NULL};
static const dcoll_algorithm_t *const irregular[] = {DCOLL_IRREGULAR_LIST(ROW)
                                                         NULL};
#undef ROW

const dcoll_algorithm_t *const *dcoll_algorithms(void)
{
    return table;
}

const dcoll_algorithm_t *const *dcoll_algorithms_irregular(void)
{
    return irregular;
}

const dcoll_algorithm_t *dcoll_algorithm_find(dcoll_collective_t collective,
                                              const char *name)
{
    for (const dcoll_algorithm_t *const *a =
             collective == DCOLL_ALLTOALLV ? irregular : table;
         *a; a++)
        if ((*a)->collective == collective && !strcmp((*a)->name, name))
            return *a;
    return NULL;
}
