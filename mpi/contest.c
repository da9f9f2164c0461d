/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is slower is not taken: calls of each side are timed, where they are made
 * and as they are made, and the best of either count. */
#include "layer.h"

#define TRIALS 5 /* of each; the first one of ours prepares */
#define AGAIN                                                                  \
    5000u       /* calls, after which they are tried anew, as machines …     \
                 */
#define CLEAR 2 /* … change, but not where one took so many times as long */
#define GAIN  0.97 /* worth the change */

int contest_turn(struct contest *c, bool *trial)
{
    uint32_t phase = c->calls++ % AGAIN;
    *trial = phase < 2 * TRIALS && !c->clear;
    if (*trial && phase == 0)
        c->best[CONTEST_BELOW] = c->best[CONTEST_OURS] = 0;
    return *trial ? (int)(phase % 2) : c->ours;
}

bool contest_took(struct contest *c, int whose, double seconds)
{
    if (c->best[whose] == 0 || seconds < c->best[whose])
        c->best[whose] = seconds;
    return c->calls % AGAIN == 2 * TRIALS;
}

void contest_decide(struct contest *c, const double most[2])
{
    double below = most[CONTEST_BELOW], ours = most[CONTEST_OURS];
    c->best[CONTEST_BELOW] = below;
    c->best[CONTEST_OURS] = ours;
    c->ours = ours <= GAIN * below;
    c->clear = ours > CLEAR * below || below > CLEAR * ours;
}

bool contest_is_won(const struct contest *c, int by)
{
    return c->calls >= 2 * TRIALS && c->ours == (by == CONTEST_OURS);
}

double contest_gain(const struct contest *c)
{
    return c->best[CONTEST_BELOW] - c->best[CONTEST_OURS];
}
