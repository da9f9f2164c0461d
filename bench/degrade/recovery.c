/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "recovery.h"

#define BEFORE_MS 500 /* whose mean is the rate before an event */
#define SOON_MS   500 /* what begins later is not of the event */
#define MESSAGES  20  /* of an interval, at the rate that is possible */
#define GAP       3   /* messages' times without one are a stall */
#define STEADY_MS 500 /* whose rate is not that of a moment */

double bins_rate(const bins_t *bins, unsigned from, unsigned to)
{
    double bytes = 0;
    if (from >= to || to > bins->count)
        return NAN;
    for (unsigned i = from; i < to; i++)
        bytes += bins->bytes[i];
    return bytes / 1e3 / (to - from);
}

/* The rate that the rails allow after the first @p count events. */
static double capacity_left(const capacity_t *capacity, const event_t *events,
                            unsigned count)
{
    double left[DRAIL_MAX_RAILS], sum = 0;
    bool whole = true;
    for (unsigned r = 0; r < capacity->nrails; r++)
        left[r] = 1;
    for (unsigned i = 0; i < count; i++)
        left[events[i].rail] = events[i].kind == EVENT_CUT ? 0
                               : events[i].kind == EVENT_BACK
                                   ? 1
                                   : events[i].factor;
    for (unsigned r = 0; r < capacity->nrails; r++) {
        sum += left[r] * capacity->rail[r];
        whole = whole && left[r] == 1;
    }
    return whole ? capacity->all : fmin(sum, capacity->all);
}

static unsigned ms_of(const event_t *event)
{
    return (unsigned)(event->was_ns / 1000000);
}

/* From where on an interval has (or, !enough, has not) this rate. */
static unsigned find(const bins_t *bins, unsigned from, unsigned to,
                     unsigned interval, double rate, bool enough)
{
    while (from + interval <= to &&
           (bins_rate(bins, from, from + interval) >= rate) != enough)
        from++;
    return from;
}

static double lowest(const bins_t *bins, unsigned from, unsigned to,
                     unsigned interval)
{
    double rate = NAN;
    for (; from + interval <= to; from++)
        rate = fmin(rate, bins_rate(bins, from, from + interval));
    return rate;
}

/* Its end is returned in @p end. */
static unsigned longest_stall(const bins_t *bins, unsigned from, unsigned to,
                              unsigned *end)
{
    unsigned longest = 0, now = 0;
    *end = from;
    for (; from < to; from++) {
        now = bins->bytes[from] ? 0 : now + 1;
        if (now > longest) {
            longest = now;
            *end = from + 1;
        }
    }
    return longest;
}

void capacity_raise(capacity_t *capacity, const bins_t *bins,
                    const events_t *events)
{
    unsigned end = events->count ? ms_of(events->list) : bins->count;
    end = end < bins->count ? end : bins->count;
    for (unsigned at = 0; at + STEADY_MS <= end; at += STEADY_MS / 10)
        capacity->all =
            fmax(capacity->all, bins_rate(bins, at, at + STEADY_MS));
}

/* Messages come whole: a few would say little of a rate. */
static unsigned widen(unsigned interval_ms, size_t message, double possible)
{
    double least = ceil(MESSAGES * (double)message / 1e3 / possible);
    return possible > 0 && least > interval_ms && least < 1e6 ? (unsigned)least
                                                              : interval_ms;
}

recovery_t recovery_of(const bins_t *bins, const events_t *events,
                       unsigned index, const capacity_t *capacity,
                       unsigned interval_ms, size_t message)
{
    const event_t *event = &events->list[index];
    unsigned start = index ? ms_of(event - 1) : 0, at = ms_of(event);
    unsigned end = index + 1 < events->count ? ms_of(event + 1) : bins->count;
    end = end < bins->count ? end : bins->count;
    at = at < end ? at : end;
    if (at > BEFORE_MS && start < at - BEFORE_MS)
        start = at - BEFORE_MS;
    recovery_t r = {.before = bins_rate(bins, start, at),
                    .possible =
                        capacity_left(capacity, events->list, index + 1)};
    interval_ms = widen(interval_ms, message, r.possible);
    double enough =
        RECOVERED * r.possible - (double)message / 1e3 / interval_ms;
    unsigned soon = at + SOON_MS < end ? at + SOON_MS : end;
    unsigned low = find(bins, at, soon, interval_ms, enough, false);
    unsigned back = at, moves;
    unsigned stall = longest_stall(bins, at, soon, &moves);
    if (stall > GAP * (double)message / 1e3 / r.possible)
        low = low < moves ? low : moves; /* shorter than an interval */
    else
        moves = at;
    if (low + interval_ms <= soon || moves > at) { /* it has come down */
        back = find(bins, low > moves ? low : moves, end, interval_ms, enough,
                    true);
        soon = back + interval_ms < end ? back + interval_ms : end;
    }
    r.ms = back + interval_ms <= end && r.possible > 0 ? back - at : NAN;
    r.dip = lowest(bins, at, soon, interval_ms);
    r.stall_ms = longest_stall(bins, at, soon, &moves);
    r.seen_ms = !event->seen_ns ? NAN
                : event->seen_ns < event->was_ns
                    ? 0
                    : (double)(event->seen_ns - event->was_ns) / 1e6;
    r.after = bins_rate(bins, isnan(r.ms) ? at : back, end);
    return r;
}
