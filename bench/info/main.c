/* SPDX-License-Identifier: BSD-3-Clause */
/* railinfo: the rails that can be opened, and the settings of the library. */
#include <stdio.h>
#include <string.h>

#include "bench/startup.h"
#include "show.h"

static const char usage[] =
    "usage: railinfo [--all] [--json]   rails that can be opened\n"
    "       railinfo NAME [--json]      everything about one rail\n"
    "       railinfo --config [--json]  every setting: meaning, default, "
    "present value\n\n"
    "  --all      also the IAs that are listed but can't be opened, and why\n"
    "  --json     machine-readable\n"
    "  --help     this text\n"
    "  --version  version\n";

typedef struct arguments {
    bool all, json, config;
    const char *name;
} arguments_t;

/* @return 0, 1: help or version was printed, -1: wrong usage. */
static int parse(arguments_t *args, int argc, char **argv)
{
    *args = (arguments_t){0};
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (!strcmp(arg, "--help") || !strcmp(arg, "-h")) {
            fputs(usage, stdout);
            return 1;
        }
        if (!strcmp(arg, "--version")) {
            puts("railinfo " DRAIL_VERSION);
            return 1;
        }
        if (!strcmp(arg, "--all"))
            args->all = true;
        else if (!strcmp(arg, "--json"))
            args->json = true;
        else if (!strcmp(arg, "--config"))
            args->config = true;
        else if (arg[0] != '-' && !args->name)
            args->name = arg;
        else {
            fprintf(stderr,
                    "railinfo: '%s' is wrong; allowed: one NAME, --all, "
                    "--json, --config, --help, --version\n",
                    arg);
            return -1;
        }
    }
    return 0;
}

/* The members of a bond, each opened by itself. */
static void show_members(const probe_t *bond)
{
    unsigned count = 0;
    probe_t *members = probe_members(bond, &count);
    if (!members)
        return;
    probe_run(members, count);
    putchar('\n');
    show_rails(members, count, true);
    probe_free(members, count);
}

static int one_rail(probe_t *probes, unsigned count, const arguments_t *args)
{
    probe_t *probe = NULL;
    for (unsigned i = 0; i < count && !probe; i++)
        if (!strcmp(probes[i].name, args->name))
            probe = &probes[i];
    if (!probe) {
        fprintf(stderr,
                "railinfo: NAME: '%s' is wrong; allowed: IA names of dat.conf "
                "as railinfo --all lists them\n",
                args->name);
        return 2;
    }
    probe_run(probe, 1);
    if (args->json) {
        show_rails_json(probe, 1);
    } else if (!probe->rc) {
        show_rail(probe);
        show_members(probe);
    } else {
        fprintf(stderr, "railinfo: %s: %s\n", probe->name,
                probe->error.text[0] ? probe->error.text
                                     : drail_strerror(probe->rc));
    }
    return probe->rc ? 1 : 0;
}

static int all_rails(probe_t *probes, unsigned count, const arguments_t *args)
{
    unsigned open = 0;
    probe_run(probes, count);
    for (unsigned i = 0; i < count; i++)
        open += !probes[i].rc;
    if (args->json)
        show_rails_json(probes, count);
    else
        show_rails(probes, count, args->all);
    return open ? 0 : 1;
}

static int run(int argc, char **argv)
{
    arguments_t args;
    unsigned count = 0;
    int rc = parse(&args, argc, argv);
    if (rc)
        return rc > 0 ? 0 : 2;
    if (args.config) {
        if (args.json)
            show_settings_json();
        else
            show_settings();
        return 0;
    }
    probe_t *probes = probe_list(&count, &rc);
    if (rc) {
        fprintf(stderr, "railinfo: can't read the registry: %s\n",
                drail_strerror(rc));
        return 1;
    }
    int status = args.name ? one_rail(probes, count, &args)
                           : all_rails(probes, count, &args);
    probe_free(probes, count);
    return status;
}

int main(int argc, char **argv)
{
    startup();
    return finish("railinfo", run(argc, argv));
}
