/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of a shm rail: second to last field of its dat.conf line. */
#ifndef DAPL_SHM_PARAMS_H
#define DAPL_SHM_PARAMS_H

#include "providers/core/core.h"
#include "providers/core/params.h"

#define SHM_PATH_MAX 256

struct shm_params {
    size_t stream_bytes; /* copies from here on use non-temporal stores;
                            or SHM_STREAM_MEASURED */
    /* link model; 0 and "" where not given */
    double rate;        /* of the port, MB/s per direction; 0: no model */
    double latency_us;  /* one way */
    double gap_us;      /* of the port, for each message, on top of its bytes */
    double overhead_us; /* CPU time of each post */
    size_t change_after; /* after so many bytes per port and direction … */
    double change_rate;  /* … the port has this rate; 0: it does not change */
    char port[CORE_PARAM_NAME]; /* rails that name the same port share it */
    char adapter[CORE_PARAM_NAME];
    double adapter_rate; /* MB/s per direction */
    char bus[CORE_PARAM_NAME];
    double bus_rate;          /* MB/s per direction */
    char cable[SHM_PATH_MAX]; /* path of the cable file; "": see cable.c */
    /* attributes by which consumers match rails */
    char fabric[CORE_PARAM_NAME];
    bool network; /* the rail claims to reach ranks of other hosts */
    bool adopt;   /* memory/adopt.h */
};

extern const struct core_params shm_params_known;
/* Reads the text of a rail's line into *params. DAT_SUCCESS, or an error after
 * one line on stderr that says what is wrong. */
DAT_RETURN shm_params_parse(const char *ia_name, const char *text,
                            struct shm_params *params);

#endif
