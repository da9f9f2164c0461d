/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of a platform file. */
#include <string.h>

#include "reader.h"

/* A byte that could affect the terminal on which an error is shown. */
static bool is_text(const char *line)
{
    for (; *line; line++)
        if (((unsigned char)*line < ' ' && !strchr(sim_blanks, *line)) ||
            *line == 0x7f)
            return false;
    return true;
}

static int read_header(struct sim_reader *r, char *line)
{
    size_t length = strlen(line);
    if (line[length - 1] != ']')
        return sim_reader_fail(
            r, r->line, "'%.40s' has no end; allowed is [SECTION]", line);
    line[length - 1] = '\0';
    return sim_reader_open(r, sim_trim(line + 1));
}

static int read_line(struct sim_reader *r, char *line)
{
    if (!is_text(line))
        return sim_reader_fail(r, r->line,
                               "this is not text; allowed are "
                               "[SECTION] and KEY = VALUE UNIT");
    line[strcspn(line, "#")] = '\0';
    line = sim_trim(line);
    if (!*line)
        return 0;
    if (*line == '[')
        return read_header(r, line);
    char *value = strchr(line, '=');
    if (!value)
        return sim_reader_fail(r, r->line,
                               "'%.40s' has no =; allowed are [SECTION] and "
                               "KEY = VALUE UNIT",
                               line);
    *value++ = '\0';
    line = sim_trim(line);
    if (!r->section)
        return sim_reader_fail(r, r->line,
                               "'%.40s' is in no section; allowed before the "
                               "first is nothing",
                               line);
    return sim_reader_set(r, line, sim_trim(value));
}

int sim_platform_parse(char *text, const char *file, unsigned ranks,
                       struct sim_platform *p, char why[SIM_WHY_MAX])
{
    struct sim_reader r = {.p = p, .file = file, .why = why, .ranks = ranks};
    memset(p, 0, sizeof *p);
    while (text) {
        char *line = strsep(&text, "\n");
        if (!text && !*line && r.line)
            break; /* line after the last one */
        r.line++;
        if (read_line(&r, line) < 0)
            return -1;
    }
    return sim_reader_end(&r);
}
