/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "units.h"

#define DIGITS_MAX 15 /* integers up to this are exact in a double */

/* value = number * times / per: whole powers of ten, which are exact */
struct unit {
    const char *name;
    double times, per;
};

static const struct kind {
    struct unit units[3];
    double least, most; /* in units of SI */
    const char *allowed;
} kinds[] = {
    [SIM_COUNT] = {{{"", 1, 1}}, 1, 1e6, "a whole number from 1 to 1000000"},
    [SIM_TIME] = {{{"us", 1, 1e6}, {"ns", 1, 1e9}},
                  0,
                  1,
                  "a time up to 1000000 in us or ns, as 1.5 us"},
    [SIM_RATE] = {{{"MB/s", 1e6, 1}, {"GB/s", 1e9, 1}, {"Gbit/s", 1e9, 8}},
                  1e3,
                  1e15,
                  "a rate from 0.001 MB/s to 1000000 GB/s in MB/s, GB/s or "
                  "Gbit/s, as 900 MB/s"},
    [SIM_BYTES] = {{{"bytes", 1, 1}},
                   0,
                   1 << 30,
                   "a whole number up to 1073741824 with bytes, as 64 bytes"},
};

/* Decimal digits with at most one point among them. @return their end; NULL:
 * there are none, or too many. */
static const char *parse_number(const char *text, double *number)
{
    double digits = 0, per = 1;
    unsigned n = 0;
    bool point = false;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        digits = digits * 10 + (*text - '0');
        if (point)
            per *= 10;
        n++;
    }
    *number = digits / per;
    return n >= 1 && n <= DIGITS_MAX ? text : NULL;
}

const char *sim_units_parse(const char *text, enum sim_unit_kind kind,
                            double *value)
{
    const struct kind *k = &kinds[kind];
    bool whole = kind == SIM_COUNT || kind == SIM_BYTES;
    double number;
    const char *name = parse_number(text, &number);
    if (!name)
        return "is not a number of at most 15 digits";
    name += strspn(name, " \t");
    if (!*name && kind != SIM_COUNT)
        return "has no unit";
    for (size_t i = 0; i < sizeof k->units / sizeof k->units[0]; i++) {
        const struct unit *u = &k->units[i];
        if (!u->name || strcmp(name, u->name))
            continue;
        *value = number * u->times / u->per;
        if (*value < k->least)
            return *value > 0 ? "is too small" : "is zero";
        if (*value > k->most)
            return "is too large";
        return whole && *value != (double)(long)*value ? "is not whole" : NULL;
    }
    return kind == SIM_COUNT ? "has a unit" : "has another unit";
}

const char *sim_units_allowed(enum sim_unit_kind kind)
{
    return kinds[kind].allowed;
}
