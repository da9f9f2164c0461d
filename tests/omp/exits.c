/* SPDX-License-Identifier: BSD-3-Clause */
/* The first thread ends the program within a region. What the last thread has
 * written before, the program's output has. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    static int said;
    FILE *file = stdout; /* of the first rank */
#pragma omp parallel
    {
        if (omp_get_thread_num() == omp_get_num_threads() - 1) {
            fprintf(file, "the last thread\n");
#pragma omp atomic write seq_cst
            said = 1;
        }
        if (omp_get_thread_num() == 0) {
            int found = 0;
            while (!found) {
#pragma omp atomic read seq_cst
                found = said;
            }
            exit(3);
        }
    }
    return 0;
}
