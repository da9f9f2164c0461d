/* SPDX-License-Identifier: BSD-3-Clause */
/* The first thread ends the program within a region. What the last thread has
 * written to a file of the first one before, the file has. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    static int said;
    FILE *file = fdopen(dup(STDOUT_FILENO), "w");
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
