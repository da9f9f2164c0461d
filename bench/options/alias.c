/* SPDX-License-Identifier: BSD-3-Clause */
/* Old names of options, and what the user has typed. */
#include <string.h>

#include "parsers.h"
#include "rows.h"

/* Names that options had before. */
static const struct alias {
    const char *alias, *name;
} aliases[] = {
    {"--table", "--selection"}, /* not to be taken for --format table */
};

const char *option_alias(const char *name)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (!strcmp(aliases[i].name, name))
            return aliases[i].alias;
    return NULL;
}

bool option_is(const char *arg, const char *name)
{
    size_t length = strlen(name);
    return !strncmp(arg, name, length) && (!arg[length] || arg[length] == '=');
}

const char *option_typed(const options_t *opts, const char *name)
{
    const char *alias = option_alias(name), *typed = name;
    for (int i = 0; alias && i < opts->argc; i++)
        if (option_is(opts->argv[i], alias))
            typed = alias;
        else if (option_is(opts->argv[i], name))
            typed = name;
    return typed;
}

bool option_given(const options_t *opts, const char *name)
{
    bool given = false;
    for (int i = 0; i < opts->argc; i++)
        given |= option_is(opts->argv[i], name);
    return given;
}
