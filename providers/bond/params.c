/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of a bond: words without '=' are members. */
#include <stdio.h>
#include <string.h>

#include "providers/bond/bond.h"

const char *const bond_policies[] = {
    [BOND_EVEN] = "even", [BOND_ADAPTIVE] = "adaptive"};
const char *const bond_engines[] = {
    [BOND_NONTHREADED] = "nonthreaded", [BOND_THREADED] = "threaded"};

/* Finds the text among two names. */
static int parse_choice(const char *text, const char *const names[2], int *at)
{
    *at = !strcmp(text, names[1]);
    return *at || !strcmp(text, names[0]) ? 0 : -1;
}

static int parse_policy(const char *text, void *at)
{
    return parse_choice(text, bond_policies, at);
}

static int parse_engine(const char *text, void *at)
{
    return parse_choice(text, bond_engines, at);
}

static const struct core_param_kind policy_kind = {"even or adaptive",
                                                   sizeof(int), parse_policy};
static const struct core_param_kind engine_kind = {"nonthreaded or threaded",
                                                   sizeof(int), parse_engine};

static const struct core_param known[] = {
    {"policy", &policy_kind, offsetof(struct bond_params, policy), {0}},
    {"engine", &engine_kind, offsetof(struct bond_params, engine), {0}},
    {"threshold",
     &core_param_bytes,
     offsetof(struct bond_params, threshold),
     {0}},
};

static const struct core_params params_known = {
    "bond", sizeof known / sizeof known[0], known};

/* Where one thread moves all bytes within its posts, shares gain nothing. */
bool bond_params_cut(const struct bond_params *p, bool syncs, uint64_t bytes)
{
    bool threads = p->engine == BOND_THREADED && bytes >= BOND_TEAM_LEAST;
    return bytes >= p->threshold && bytes >= BOND_SHORTEST &&
           (!syncs || threads || p->policy == BOND_EVEN);
}

int bond_member_bad(const char *ia_name, const char *member, const char *why)
{
    return core_params_bad(&params_known, ia_name, member, "%s", why);
}

static int add_member(const char *ia_name, const char *word,
                      struct bond_params *p)
{
    if (strlen(word) >= CORE_PARAM_NAME)
        return core_params_bad(&params_known, ia_name, word,
                               "a name has at most %d characters",
                               CORE_PARAM_NAME - 1);
    if (p->count == BOND_MAX_MEMBERS)
        return core_params_bad(&params_known, ia_name, word,
                               "a bond has at most %d members",
                               BOND_MAX_MEMBERS);
    for (unsigned i = 0; i < p->count; i++)
        if (!strcmp(p->names[i], word))
            return core_params_bad(&params_known, ia_name, word,
                                   "this member is given twice");
    strcpy(p->names[p->count++], word);
    return 0;
}

int bond_params_parse(const char *ia_name, const char *text,
                      struct bond_params *p)
{
    char words[CORE_PARAMS_MAX], values[CORE_PARAMS_MAX + 1] = "", *save = NULL;
    *p = (struct bond_params){.policy = BOND_ADAPTIVE, .threshold = 16384};
    if (snprintf(words, sizeof words, "%s", text) >= (int)sizeof words)
        return core_params_bad(&params_known, ia_name, "parameters",
                               "longer than %d characters",
                               CORE_PARAMS_MAX - 1);
    for (char *w = strtok_r(words, " \t", &save); w;
         w = strtok_r(NULL, " \t", &save)) {
        if (strchr(w, '=')) {
            strcat(values, " "); /* not longer than the words */
            strcat(values, w);
        } else if (add_member(ia_name, w, p)) {
            return -1;
        }
    }
    if (!p->count)
        return core_params_bad(&params_known, ia_name, "parameters",
                               "no member is given");
    return core_params_parse(&params_known, ia_name, values, p) == DAT_SUCCESS
               ? 0
               : -1;
}
