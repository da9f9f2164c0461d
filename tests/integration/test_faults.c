/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of DAT and every one for memory fails in turn, over shared
 * memory. */
#include "faults_transport.h"

FAULTS_TESTS(transport)

RUN_TESTS_AFTER(faults_open(), 1, tests)
