/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections and keys of a platform file, and where their values go. */
#ifndef PROVIDERS_SIM_READER_KEYS_H
#define PROVIDERS_SIM_READER_KEYS_H

#include <stdbool.h>

#include "providers/sim/platform.h"
#include "units.h"

#define SIM_KEYS_MAX  14 /* of a section */
#define SIM_WORDS_MAX 2

enum sim_key_kind {
    SIM_KEY_UNIT,  /* a double; an unsigned for counts */
    SIM_KEY_RATES, /* rates of 1, 2, … copies, with commas between them */
    SIM_KEY_PART,  /* index of a part of this section, which must stand above */
    SIM_KEY_WORD,  /* an enum: the index of one of the words */
};

struct sim_key {
    const char *name;
    enum sim_key_kind kind;
    enum sim_unit_kind unit;
    size_t at; /* offset in the platform, or in its part */
    bool needed;
    const char *section; /* of a part */
    const char *words[SIM_WORDS_MAX];
    const char *with; /* another key: give both or neither */
};

/* A section, or several parts with a name each: [rail elan0] */
struct sim_section {
    const char *name;
    bool needed;
    size_t at,
        size; /* place of the first part, and size of each; size 0: only one */
    size_t count; /* place of the number of parts */
    struct sim_key keys[SIM_KEYS_MAX];
};

/* Ends with a section without a name, as the keys of each do. */
extern const struct sim_section sim_sections[];

#endif
