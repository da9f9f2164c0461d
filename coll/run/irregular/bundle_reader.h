/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads bundles (build/irregular/bundle.h). A bundle comes from a peer, and the
 * peer may still write into it: each field is checked, and read only once.
 */
#ifndef DCOLL_BUNDLE_READER_H
#define DCOLL_BUNDLE_READER_H

#include <string.h>

#include "coll/build/irregular/bundle.h"
#include "coll/run/request.h"

/* A run of elements, or one element without a label. */
struct parcel {
    struct bundle_run run;
    const unsigned char *elements;
};

struct bundle_reader {
    const dcoll_request_t *q;
    const unsigned char *at;
    size_t left;
    const unsigned char *lost; /* a bit for each rank; NULL: no element is
                                  missing */
    bool malformed;
};

struct bundle_reader bundle_reader_open(const dcoll_request_t *q,
                                        const unsigned char *bundle,
                                        size_t room);
/* Are elements for that rank missing? */
bool bundle_reader_lacks(const struct bundle_reader *r, unsigned rank);
/* Writes the sentence for a malformed bundle, and returns the error. */
int bundle_fail_malformed(const dcoll_request_t *q);

/* Bytes of a bundle that have to be sent: all of its room if it lists missing
 * elements at the end. 0: its length is wrong. */
size_t bundle_length(const unsigned char *bundle, size_t room);

/* Reads the next parcel. False: the bundle ends here, or is malformed. Inline:
 * it is called for each element without a label. */
static inline bool bundle_reader_next(struct bundle_reader *r,
                                      struct parcel *parcel)
{
    const dcoll_request_t *q = r->q;
    size_t head = q->traffic.labelled ? BUNDLE_RUN : 0,
           element = q->traffic.element;
    unsigned n = q->team->shape.nranks;
    if (!r->left)
        return false;
    r->malformed = r->left < head + element;
    if (r->malformed)
        return false;
    if (q->traffic.labelled)
        memcpy(&parcel->run, r->at, BUNDLE_RUN);
    else
        parcel->run = (struct bundle_run){
            elements_destination(&q->elements, r->at), 0, 0, 1};
    parcel->elements = r->at + head;
    r->malformed = parcel->run.dst >= n || parcel->run.src >= n ||
                   !parcel->run.count ||
                   parcel->run.count > (r->left - head) / element;
    if (r->malformed)
        return false;
    size_t bytes = head + parcel->run.count * element;
    r->at += bytes;
    r->left -= bytes;
    return true;
}

#endif
