/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals, for tests without ranks; those with ranks have their job for it. */
#ifndef BENCH_INTERRUPT_H
#define BENCH_INTERRUPT_H

#include <stdbool.h>

/** From now on SIGINT and SIGTERM are noted and do not end the process. */
void interrupt_catch(void);
bool interrupt_came(void);

#endif
