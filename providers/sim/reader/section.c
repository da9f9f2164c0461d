/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of a platform file: which exist, and whether they are complete. */
#include <stdio.h>
#include <string.h>

#include "reader.h"

#define LIST_MAX 192 /* names that are allowed, in a reason */

const struct sim_section *sim_section_named(const char *name)
{
    const struct sim_section *s = sim_sections;
    while (s->name && strcmp(s->name, name))
        s++;
    return s->name ? s : NULL;
}

unsigned *sim_section_count(const struct sim_section *s, struct sim_platform *p)
{
    return (unsigned *)((char *)p + s->count);
}

char *sim_section_part(const struct sim_section *s, struct sim_platform *p,
                       unsigned index)
{
    return (char *)p + s->at + index * s->size;
}

unsigned sim_section_find(const struct sim_section *s, struct sim_platform *p,
                          const char *name)
{
    unsigned i = 0, n = *sim_section_count(s, p);
    while (i < n && strcmp(sim_section_part(s, p, i), name))
        i++;
    return i;
}

/* "a, b, c" of the required sections or keys, or of all. */
static const char *list_sections(bool needed, char list[LIST_MAX])
{
    list[0] = '\0';
    for (const struct sim_section *s = sim_sections; s->name; s++)
        if (s->needed || !needed)
            snprintf(list + strlen(list), LIST_MAX - strlen(list),
                     s->size ? "%s[%s NAME]" : "%s[%s]", *list ? ", " : "",
                     s->name);
    return list;
}

static unsigned line_of(const struct sim_reader *r, const char *key)
{
    unsigned i = 0;
    while (strcmp(r->section->keys[i].name, key))
        i++;
    return r->key_line[i];
}

/* Is there a core for each rank of a node? */
static int check_node(struct sim_reader *r)
{
    const struct sim_platform *p = r->p;
    unsigned long long cores =
        (unsigned long long)p->node.sockets * p->node.cores;
    r->ranks_line = line_of(r, "ranks");
    if (p->node.ranks > cores)
        return sim_reader_fail(r, r->ranks_line,
                               "ranks = %u are more than cores; allowed are up "
                               "to %llu, one for each core of the node",
                               p->node.ranks, cores);
    return 0;
}

/* Has the section that ends all required keys? */
static int close_section(struct sim_reader *r)
{
    if (!r->section)
        return 0;
    const struct sim_key *k = r->section->keys;
    for (unsigned i = 0; i < SIM_KEYS_MAX && k[i].name; i++) {
        if (k[i].needed && !r->key_line[i])
            return sim_reader_fail(r, r->section_line,
                                   "[%s] has no %s; it is needed",
                                   r->section->name, k[i].name);
        if (k[i].with && r->key_line[i] && !line_of(r, k[i].with))
            return sim_reader_fail(r, r->key_line[i],
                                   "%s is given without %s; allowed are both, "
                                   "or none",
                                   k[i].name, k[i].with);
    }
    return strcmp(r->section->name, "node") ? 0 : check_node(r);
}

static int open_part(struct sim_reader *r, const char *name)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    unsigned *n = sim_section_count(r->section, r->p);
    size_t length = strlen(name);
    if (!length || length >= SIM_NAME_MAX || name[strspn(name, allowed)])
        return sim_reader_fail(r, r->line,
                               "[%s] has the name '%.40s'; allowed are 1 to "
                               "%d letters, digits and - _ .",
                               r->section->name, name, SIM_NAME_MAX - 1);
    if (sim_section_find(r->section, r->p, name) < *n)
        return sim_reader_fail(r, r->line,
                               "[%s %s] is there twice; each needs a name of "
                               "its own",
                               r->section->name, name);
    if (*n == SIM_PARTS_MAX)
        return sim_reader_fail(r, r->line,
                               "[%s %s] is one too many; allowed are %d",
                               r->section->name, name, SIM_PARTS_MAX);
    r->at = sim_section_part(r->section, r->p, (*n)++);
    memcpy(r->at, name, length + 1);
    return 0;
}

int sim_reader_open(struct sim_reader *r, char *header)
{
    char list[LIST_MAX];
    if (close_section(r) < 0)
        return -1;
    char *name = header + strcspn(header, " \t");
    if (*name)
        *name++ = '\0';
    name = sim_trim(name);
    r->section = sim_section_named(header);
    if (!r->section)
        return sim_reader_fail(r, r->line,
                               "[%.40s] is no section; allowed are %s", header,
                               list_sections(false, list));
    unsigned bit = 1U << (r->section - sim_sections);
    bool again = r->seen & bit;
    r->seen |= bit;
    r->section_line = r->line;
    memset(r->key_line, 0, sizeof r->key_line);
    if (r->section->size)
        return open_part(r, name);
    r->at = (char *)r->p;
    if (*name)
        return sim_reader_fail(r, r->line,
                               "[%s] has the name '%.40s'; allowed is [%s]",
                               header, name, header);
    if (again)
        return sim_reader_fail(r, r->line,
                               "[%s] is there twice; allowed is once", header);
    return 0;
}

/* Has a leaf a port for each rail of a node? */
static int check_leaf(const struct sim_reader *r)
{
    const struct sim_platform *p = r->p;
    if (!p->leaf.ports || p->leaf.wiring == SIM_WIRING_RAIL ||
        p->leaf.ports >= p->rails)
        return 0;
    return sim_reader_fail(r, r->line,
                           "[leaf] has fewer ports than a node has rails; "
                           "allowed are %u or more, or wiring = rail",
                           p->rails);
}

int sim_reader_end(struct sim_reader *r)
{
    char list[LIST_MAX];
    if (close_section(r) < 0)
        return -1;
    for (const struct sim_section *s = sim_sections; s->name; s++)
        if (s->needed && !(r->seen & 1U << (s - sim_sections)))
            return sim_reader_fail(r, r->line,
                                   "there is no [%s]; needed are %s", s->name,
                                   list_sections(true, list));
    unsigned long long cores = (unsigned long long)r->p->cluster.nodes *
                               r->p->node.sockets * r->p->node.cores;
    if (r->ranks > cores)
        return sim_reader_fail(r, r->ranks_line,
                               "%u ranks are asked for; allowed are up to "
                               "%llu, one for each core of the cluster",
                               r->ranks, cores);
    return check_leaf(r);
}
