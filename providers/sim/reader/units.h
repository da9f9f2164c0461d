/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers with their units, as platform files have them. */
#ifndef PROVIDERS_SIM_READER_UNITS_H
#define PROVIDERS_SIM_READER_UNITS_H

enum sim_unit_kind { SIM_COUNT, SIM_TIME, SIM_RATE, SIM_BYTES };

/*
 * The value of "1.5 us" in seconds, of "900 MB/s" in bytes per second, of a
 * count or of "64 bytes" as it is. The same in every locale.
 *
 * @return NULL, or what is wrong: "has no unit"
 */
const char *sim_units_parse(const char *text, enum sim_unit_kind kind,
                            double *value);

/* In words, for reasons. */
const char *sim_units_allowed(enum sim_unit_kind kind);

#endif
