/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of the keys of a platform file. */
#include <stdio.h>
#include <string.h>

#include "reader.h"

#define LIST_MAX 256 /* what is allowed, in a reason */

static int fail_unit(struct sim_reader *r, const char *key, const char *text,
                     const char *wrong, enum sim_unit_kind unit)
{
    return sim_reader_fail(r, r->line, "%s = %.40s %s; allowed is %s", key,
                           text, wrong, sim_units_allowed(unit));
}

static int set_unit(struct sim_reader *r, const struct sim_key *k,
                    const char *text)
{
    double value;
    const char *wrong = sim_units_parse(text, k->unit, &value);
    if (wrong)
        return fail_unit(r, k->name, text, wrong, k->unit);
    if (k->unit == SIM_COUNT)
        *(unsigned *)(r->at + k->at) = (unsigned)value;
    else
        *(double *)(r->at + k->at) = value;
    return 0;
}

static int set_rates(struct sim_reader *r, const struct sim_key *k, char *text)
{
    struct sim_rates *rates = (struct sim_rates *)(r->at + k->at);
    rates->count = 0;
    while (text) {
        char *word = sim_trim(strsep(&text, ","));
        if (rates->count == SIM_COPIES_MAX)
            return sim_reader_fail(r, r->line,
                                   "%s has more than %d rates; allowed are %d",
                                   k->name, SIM_COPIES_MAX, SIM_COPIES_MAX);
        const char *wrong =
            sim_units_parse(word, k->unit, &rates->together[rates->count++]);
        if (wrong)
            return fail_unit(r, k->name, word, wrong, k->unit);
    }
    return 0;
}

static int set_part(struct sim_reader *r, const struct sim_key *k,
                    const char *text)
{
    const struct sim_section *s = sim_section_named(k->section);
    unsigned n = *sim_section_count(s, r->p);
    unsigned i = sim_section_find(s, r->p, text);
    *(unsigned *)(r->at + k->at) = i;
    if (i < n)
        return 0;
    char list[LIST_MAX] = "";
    for (i = 0; i < n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i ? ", " : "", sim_section_part(s, r->p, i));
    return sim_reader_fail(r, r->line,
                           "%s = %.40s is no [%s] above; allowed are: %s",
                           k->name, text, k->section, n ? list : "none yet");
}

static int set_word(struct sim_reader *r, const struct sim_key *k,
                    const char *text)
{
    unsigned i = 0;
    while (i < SIM_WORDS_MAX && strcmp(k->words[i], text))
        i++;
    *(unsigned *)(r->at + k->at) = i;
    return i < SIM_WORDS_MAX
               ? 0
               : sim_reader_fail(r, r->line,
                                 "%s = %.40s is unknown; allowed are %s, %s",
                                 k->name, text, k->words[0], k->words[1]);
}

static int fail_key(struct sim_reader *r, const char *name)
{
    char list[LIST_MAX] = "";
    for (unsigned i = 0; i < SIM_KEYS_MAX && r->section->keys[i].name; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s",
                 i ? ", " : "", r->section->keys[i].name);
    return sim_reader_fail(r, r->line,
                           "'%.40s' is no key of [%s]; allowed are %s", name,
                           r->section->name, list);
}

int sim_reader_set(struct sim_reader *r, const char *name, char *text)
{
    const struct sim_key *keys = r->section->keys;
    unsigned i = 0;
    while (i < SIM_KEYS_MAX && keys[i].name && strcmp(keys[i].name, name))
        i++;
    if (i == SIM_KEYS_MAX || !keys[i].name)
        return fail_key(r, name);
    if (r->key_line[i])
        return sim_reader_fail(r, r->line,
                               "%s is given twice, first in line %u; allowed "
                               "is once",
                               name, r->key_line[i]);
    r->key_line[i] = r->line;
    switch (keys[i].kind) {
    case SIM_KEY_RATES:
        return set_rates(r, &keys[i], text);
    case SIM_KEY_PART:
        return set_part(r, &keys[i], text);
    case SIM_KEY_WORD:
        return set_word(r, &keys[i], text);
    default:
        return set_unit(r, &keys[i], text);
    }
}
