/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks die and the others shrink their team: over shared memory. */
#include "shrink_scene.h"

int main(int argc, char **argv)
{
    return shrink_all(argc, argv);
}
