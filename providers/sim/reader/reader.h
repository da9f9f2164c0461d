/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the reader of a platform file is. */
#ifndef PROVIDERS_SIM_READER_READER_H
#define PROVIDERS_SIM_READER_READER_H

#include "keys.h"

struct sim_reader {
    struct sim_platform *p;
    const char *file;
    char *why; /* SIM_WHY_MAX */
    unsigned ranks, line;
    const struct sim_section *section; /* that it is in; NULL: none yet */
    char *at;                          /* its values */
    unsigned section_line, key_line[SIM_KEYS_MAX];
    unsigned seen; /* bits: sections that have been there */
    unsigned ranks_line;
};

/* Tells what was given on this line, and what is allowed; -1. */
int sim_reader_fail(const struct sim_reader *r, unsigned line,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A section begins, or all ends: is what the last one has given whole? 0/-1 */
int sim_reader_open(struct sim_reader *r, char *header);
int sim_reader_end(struct sim_reader *r);

/* A key of the section, and the text of its value. 0/-1 */
int sim_reader_set(struct sim_reader *r, const char *name, char *text);

/* The number of parts of a section so far, and the name of one. */
unsigned *sim_section_count(const struct sim_section *s,
                            struct sim_platform *p);
char *sim_section_part(const struct sim_section *s, struct sim_platform *p,
                       unsigned index);
/* The index of a part of this name; the number of parts: there is none. */
unsigned sim_section_find(const struct sim_section *s, struct sim_platform *p,
                          const char *name);
const struct sim_section *sim_section_named(const char *name);

extern const char sim_blanks[];
/* Without blanks around it. */
char *sim_trim(char *text);

#endif
