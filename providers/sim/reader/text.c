/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

const char sim_blanks[] = " \t\r";

int sim_reader_fail(const struct sim_reader *r, unsigned line,
                    const char *format, ...)
{
    va_list args;
    int n = snprintf(r->why, SIM_WHY_MAX, "%.200s:%u: ", r->file, line);
    va_start(args, format);
    vsnprintf(r->why + n, SIM_WHY_MAX - (size_t)n, format, args);
    va_end(args);
    return -1;
}

char *sim_trim(char *text)
{
    text += strspn(text, sim_blanks);
    size_t length = strlen(text);
    while (length && strchr(sim_blanks, text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}
