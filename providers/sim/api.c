/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/sim/world.h"

const struct sim_api sim_api = {
    .platform_read = sim_platform_read,
    .run = sim_run,
    .now = sim_now,
    .sleep_until = sim_sleep_until,
    .busy = sim_busy,
    .wait = sim_wait,
    .wake = sim_wake,
    .notices = sim_notices,
    .copy = sim_copy,
    .hollow = sim_hollow,
    .move = sim_move,
    .flag_set = sim_flag_set,
    .flag_wait = sim_flag_wait,
    .flag_wake = sim_flag_wake,
    .flags_settle = sim_flags_settle,
    .pause = sim_pause,
    .threads_start = sim_threads_start,
    .threads_join = sim_threads_join,
};
