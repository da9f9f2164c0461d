/* SPDX-License-Identifier: BSD-3-Clause */
/* RADIX: sorts integers. */
#ifndef BENCH_APPS_RADIX_H
#define BENCH_APPS_RADIX_H

#include "app.h"

extern const app_t radix_app;

#endif
