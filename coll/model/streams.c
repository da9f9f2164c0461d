/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "streams.h"

bool streams_open(struct streams *s, size_t most)
{
    size_t places = 2;
    while (places < 2 * most)
        places *= 2;
    s->places = calloc(places, sizeof *s->places);
    s->mask = places - 1;
    return s->places;
}

void streams_close(struct streams *s)
{
    free(s->places);
}

/* The slot of a stream, or the free slot where it belongs. Half of the table is
 * free.
 */
static struct stream *place_of(const struct streams *s, uint64_t name)
{
    size_t i = (name * 0x9e3779b97f4a7c15u) >> 32 & s->mask;
    while (s->places[i].name && s->places[i].name != name + 1)
        i = (i + 1) & s->mask;
    return &s->places[i];
}

struct stream *streams_find(const struct streams *s, uint64_t name)
{
    struct stream *place = place_of(s, name);
    return place->name ? place : NULL;
}

struct stream *streams_begin(struct streams *s, uint64_t name)
{
    struct stream *place = place_of(s, name);
    if (!place->name)
        *place = (struct stream){name + 1, STREAM_EMPTY, STREAM_EMPTY};
    return place;
}
