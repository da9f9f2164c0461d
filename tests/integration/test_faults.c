/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of DAT and every one for memory fails in turn, over shared
 * memory. */
#include "faults_transport.h"

FAULTS_TESTS(transport)

int main(int argc, char **argv)
{
    faults_open();
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
