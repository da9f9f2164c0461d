/* SPDX-License-Identifier: BSD-3-Clause */
/* State of reading a platform file. */
#ifndef PROVIDERS_SIM_READER_READER_H
#define PROVIDERS_SIM_READER_READER_H

#include "keys.h"

struct sim_reader {
    struct sim_platform *p;
    const char *file;
    char *why; /* SIM_WHY_MAX */
    unsigned ranks, line;
    const struct sim_section *section; /* the current section; NULL: none yet */
    char *at;                          /* its values */
    unsigned section_line, key_line[SIM_KEYS_MAX];
    unsigned seen; /* bits: sections that have been seen */
    unsigned ranks_line;
};

/* Writes the error: what this line gave, and what is allowed. Returns -1. */
int sim_reader_fail(const struct sim_reader *r, unsigned line,
                    const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A section begins, or the file ends: checks that the last section is complete.
 * 0 or -1. */
int sim_reader_open(struct sim_reader *r, char *header);
int sim_reader_end(struct sim_reader *r);

/* Reads the value of a key of the section. 0 or -1. */
int sim_reader_set(struct sim_reader *r, const char *name, char *text);

/* The number of parts of a section so far, and the name of one. */
unsigned *sim_section_count(const struct sim_section *s,
                            struct sim_platform *p);
char *sim_section_part(const struct sim_section *s, struct sim_platform *p,
                       unsigned index);
/* The index of the part with this name; the number of parts: there is none. */
unsigned sim_section_find(const struct sim_section *s, struct sim_platform *p,
                          const char *name);
const struct sim_section *sim_section_named(const char *name);

extern const char sim_blanks[];
/* The text without surrounding blanks. */
char *sim_trim(char *text);

#endif
