/* SPDX-License-Identifier: BSD-3-Clause */
/* Members of JSON objects that several tests write. */
#include "report.h"

void report_json_command(json_t *j, const options_t *o)
{
    json_row_array(j, "command");
    for (int i = 0; i < o->argc; i++)
        json_string(j, NULL, o->argv[i]);
    json_end_array(j);
}

void report_json_options_begin(json_t *j, const options_t *o)
{
    report_json_command(j, o);
    json_object(j, "options");
    json_uint(j, "ranks", o->ranks);
    json_uint(j, "ppn", options_ppn(o));
}

void report_json_repetition(json_t *j, const options_t *o)
{
    json_uint(j, "iterations", o->iterations);
    json_uint(j, "warmup", options_warmup(o));
    json_uint(j, "repeat", o->repeat);
    json_double(j, "precision", o->precision);
    json_double(j, "time_budget_s", o->time_budget);
}

void report_json_validity(json_t *j, validity_t validity)
{
    if (validity == NOT_VALIDATED)
        json_null(j, "valid");
    else
        json_bool(j, "valid", validity == VALID);
}

void report_json_machine(json_t *j, const machine_t *m)
{
    json_object(j, "machine");
    if (m->simulated[0])
        json_string(j, "simulated", m->simulated);
    json_string(j, "host", m->host);
    json_string(j, "cpu", m->cpu);
    json_bool(j, "virtual_machine", m->virtual_machine);
    json_uint(j, "packages", m->packages);
    json_uint(j, "numa_nodes", m->numa_nodes);
    json_uint(j, "cores", m->cores);
    json_uint(j, "hardware_threads", m->hardware_threads);
    json_uint(j, "allowed_threads", m->allowed_threads);
    json_uint(j, "l1_bytes", m->l1_bytes);
    json_uint(j, "l2_bytes", m->l2_bytes);
    json_uint(j, "l3_bytes", m->l3_bytes);
    json_uint(j, "memory_bytes", m->memory_bytes);
    json_string(j, "governor", m->governor);
    json_double(j, "load_before", m->load);
    json_string(j, "kernel", m->kernel);
    json_string(j, "libc", m->libc);
    json_string(j, "compiler", m->compiler);
    json_string(j, "libdat2", m->libdat2);
    json_string(j, "hwloc", m->hwloc);
    json_end_object(j);
}

void report_json_settings(json_t *j)
{
    drail_setting_t setting;
    json_object(j, "settings");
    for (unsigned i = 0; !drail_setting_get(i, &setting); i++)
        json_string(j, setting.name, setting.value);
    json_end_object(j);
}

void report_json_pinning(json_t *j, const pinning_t *pinning, unsigned ranks)
{
    json_array(j, "pinning");
    for (unsigned rank = 0; rank < ranks; rank++) {
        const pinning_t *at = &pinning[rank];
        json_row_object(j, NULL);
        json_uint(j, "rank", rank);
        json_int(j, "main_core", at->core);
        json_uint(j, "first_allowed_core", at->base);
        json_uint(j, "allowed_cores", at->cores);
        json_end_object(j);
    }
    json_end_array(j);
}

void report_json_notes(json_t *j, const notes_t *notes)
{
    json_array(j, "notes");
    for (unsigned i = 0; i < notes->count; i++)
        json_string(j, NULL, notes->text[i]);
    json_end_array(j);
}

void report_json_rails(json_t *j, const drail_rail_info_t *rails,
                       unsigned count)
{
    json_array(j, "rails");
    for (unsigned i = 0; i < count; i++) {
        const drail_rail_info_t *info = &rails[i];
        json_object(j, NULL);
        json_string(j, "name", info->name);
        json_string(j, "fabric", info->fabric);
        json_string(j, "provider", info->provider);
        json_string(j, "vendor", info->vendor);
        json_string(j, "adapter", info->adapter);
        json_string(j, "address", info->address);
        json_double(j, "nominal_MBps", info->nominal_MBps);
        json_double(j, "adapter_MBps", info->adapter_MBps);
        json_string(j, "bus", info->bus);
        json_double(j, "bus_MBps", info->bus_MBps);
        json_int(j, "numa_node", info->numa_node);
        json_string(j, "cpus", info->cpus);
        json_end_object(j);
    }
    json_end_array(j);
}

void report_json_summary(json_t *j, const char *key, const summary_t *s)
{
    json_row_object(j, key);
    json_double(j, "median", s->median);
    json_double(j, "lo", s->lo);
    json_double(j, "hi", s->hi);
    json_double(j, "coverage", s->coverage);
    json_double(j, "mean", s->mean);
    json_double(j, "min", s->min);
    json_double(j, "max", s->max);
    json_uint(j, "outliers", s->outliers);
    json_uint(j, "repeats", s->n);
    json_end_object(j);
}

void report_json_histogram(json_t *j, const char *unit, const hist_t *hist)
{
    json_object(j, "histogram");
    json_string(j, "unit", unit);
    json_uint(j, "significant_bits", HIST_BITS);
    json_uint(j, "count", hist->count);
    json_uint(j, "min", hist->min);
    json_uint(j, "max", hist->max);
    json_row_array(j, "buckets"); /* [lowest value, count] */
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        if (!hist->buckets[i])
            continue;
        json_array(j, NULL);
        json_uint(j, NULL, hist_lowest(i));
        json_uint(j, NULL, hist->buckets[i]);
        json_end_array(j);
    }
    json_end_array(j);
    json_end_object(j);
}

void report_json_engine(json_t *j, const setup_t *setup)
{
    json_string(j, "engine", drail_engine_name(setup->engine));
    if (setup->engine == DRAIL_ENGINE_THREADED)
        json_string(j, "team", drail_team_name(setup->team));
    json_string(j, "policy", drail_policy_name(setup->policy));
}

void report_json_setup_rails(json_t *j, const options_t *opts,
                             const drail_rail_info_t *rails,
                             const setup_t *setup)
{
    char text[REPORT_RAILS];
    setup_rails(setup, opts, text, sizeof text);
    json_string(j, "rails", text);
    rails_fabric(rails, opts->nrails, setup, text, sizeof text);
    json_string(j, "fabric", text);
}
