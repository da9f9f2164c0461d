/* SPDX-License-Identifier: BSD-3-Clause */
/* The latest error of a team. A file of its own, as everything may call it. */
#include <stdarg.h>
#include <stdio.h>

#include "coll/run/team/team.h"

int team_fail(dcoll_team_t *team, int code, const char *format, ...)
{
    va_list args;
    if (team->broken)
        return code;
    va_start(args, format);
    vsnprintf(team->error.text, sizeof team->error.text, format, args);
    va_end(args);
    team->error.code = code;
    return code;
}
