/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/clock.h"

const struct drail_platform *clock_elsewhere;
