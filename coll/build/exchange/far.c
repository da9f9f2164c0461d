/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/far.h"
#include "coll/build/flat.h"

struct far far_of(unsigned n, unsigned k)
{
    return (struct far){n, k, flat_steps(n, k)};
}

/* A step without its begin. */
static struct far_step sizes(const struct far *f, unsigned step)
{
    unsigned distance = 1;
    for (unsigned i = step + 1; i < f->steps; i++)
        distance *= f->k + 1;
    const unsigned apart = distance * (f->k + 1), last = (f->n - 1) / apart;
    return (struct far_step){.distance = distance,
                             .count = last + 1,
                             .whole = (f->n - 1 - last * apart) / distance};
}

/* The number of places before `begin` that a step fills. */
static unsigned in_front(const struct far *f, const struct far_step *s)
{
    return (f->k - s->whole) * (s->count - 1);
}

struct far_step far_step(const struct far *f, unsigned step)
{
    struct far_step now = sizes(f, step);
    for (unsigned i = step; i < f->steps; i++) {
        const struct far_step later = sizes(f, i);
        now.begin += in_front(f, &later);
    }
    return now;
}

bool far_message(const struct far_step *s, unsigned port, struct far_message *m)
{
    const bool whole = port < s->whole;
    m->distance = (port + 1) * s->distance;
    m->count = whole ? s->count : s->count - 1;
    m->place = whole ? s->begin + (port + 1) * s->count
                     : s->begin - (port - s->whole + 1) * m->count;
    return m->count > 0;
}

unsigned far_offset(const struct far *f, unsigned place)
{
    unsigned offset = 0;
    for (unsigned step = f->steps; step-- > 0;) {
        const struct far_step s = far_step(f, step);
        struct far_message m;
        for (unsigned p = 0; p < f->k; p++) {
            if (!far_message(&s, p, &m) || place < m.place ||
                place >= m.place + m.count)
                continue;
            offset += m.distance;
            place = s.begin + place - m.place;
            break;
        }
    }
    return offset;
}
