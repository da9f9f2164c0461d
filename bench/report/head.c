/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines above a table, which begin with "#". */
#include "report.h"

void report_title(FILE *file, const report_t *of)
{
    const machine_t *m = of->machine;
    if (m->simulated[0])
        fprintf(file,
                "# railbench %s %s (%s), simulated: virtual time of %s, the "
                "same in every run\n",
                of->test, DRAIL_VERSION, m->revision, m->simulated);
    else
        fprintf(file, "# railbench %s %s (%s), %s: %s, %u cores%s, %s\n",
                of->test, DRAIL_VERSION, m->revision, m->host, m->cpu, m->cores,
                m->virtual_machine ? " (virtual machine)" : "", m->kernel);
    report_origin(file, m, of->opts);
}

void report_rails(FILE *file, const options_t *opts,
                  const drail_rail_info_t *rails)
{
    fputs("# rails:", file);
    for (unsigned i = 0; i < opts->nrails; i++)
        fprintf(file, " %s (%s)", opts->rails[i], rails[i].fabric);
}

static bool few(const options_t *opts)
{
    return opts->repeat && opts->repeat < 6 && !opts->simulated;
}

const char *report_interval(const options_t *opts)
{
    return opts->simulated ? "[range, where they are not alike]"
           : few(opts)     ? "[range]"
                           : "[95 % confidence interval]";
}

void report_few(FILE *file, const options_t *opts)
{
    if (few(opts))
        fputs("# note: fewer than 6 repeats: [lo hi] is their range, less than "
              "95 % confidence\n",
              file);
}

const char *report_spread(const options_t *opts)
{
    if (opts->simulated)
        return "range of repeats";
    return few(opts)
               ? "range of fewer than 6 repeats, less than 95 % confidence"
               : "95 % confidence interval";
}

void report_notes(FILE *file, const notes_t *notes)
{
    for (unsigned i = 0; i < notes->count; i++)
        fprintf(file, "# note: %s\n", notes->text[i]);
}

void report_partial(FILE *file, bool partial)
{
    if (partial)
        fputs("# note: partial result: the run was ended early\n", file);
}
