/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

size_t verify_gcd(size_t a, size_t b)
{
    while (b) {
        size_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static size_t room(const struct verifier *v, unsigned rank, dcoll_space_t space)
{
    switch (space) {
    case DCOLL_SEND:
        return send_bytes(v, rank);
    case DCOLL_RECV:
        return recv_bytes(v, rank);
    case DCOLL_TEMP:
        return schedule_of(v, rank)->temp_bytes;
    case DCOLL_NODE:
        return schedule_of(v, rank)->node_bytes;
    }
    return 0;
}

void verify_check_range(const struct check_site *site, unsigned rank,
                        dcoll_place_t place, size_t bytes)
{
    struct verifier *v = site->v;
    size_t have = bytes ? room(v, rank, place.space) : 0;
    if (!bytes || v->program->messages_only)
        return;
    if (place.offset > have || bytes > have - place.offset)
        WRONG(site, "out of bounds: there are %zu bytes on rank %u", have,
              rank);
    v->grain = verify_gcd(verify_gcd(v->grain, place.offset), bytes);
}

void verify_check_target(const struct check_site *site, dcoll_place_t dst)
{
    if (dst.space == DCOLL_SEND)
        WRONG(site, "SEND must not be written");
}

/* In an irregular collective, counts tell the place in SEND and RECV. */
void verify_check_user(const struct check_site *site, dcoll_place_t place)
{
    if ((place.space == DCOLL_SEND || place.space == DCOLL_RECV) &&
        place.offset)
        WRONG(site, "counts tell where in users' buffers, not an offset");
}
