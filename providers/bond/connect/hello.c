/* SPDX-License-Identifier: BSD-3-Clause */
/* The private data that the bonds of both ends exchange. */
#include <stdio.h>

#include "dapl_rail/platform/fnv.h"

#include "providers/bond/connect/connect.h"

uint16_t bond_members_hash(const struct bond_params *p)
{
    uint64_t sum = FNV_EMPTY;
    for (unsigned i = 0; i < p->count; i++)
        sum = fnv_add(sum, p->names[i], strlen(p->names[i]) + 1);
    return (uint16_t)(sum ^ sum >> 16 ^ sum >> 32 ^ sum >> 48);
}

DAT_COUNT bond_hello_say(const struct bond_ia *b, unsigned kind, DAT_COUNT size,
                         const void *data, struct bond_said *said)
{
    said->hello = (struct bond_hello){.magic = BOND_MAGIC,
                                      .kind = (uint8_t)kind,
                                      .size = (uint8_t)size,
                                      .members = b->hash};
    if (size)
        memcpy(said->data, data, (size_t)size);
    return (DAT_COUNT)sizeof said->hello + size;
}

bool bond_hello_read(const void *data, DAT_COUNT bytes, struct bond_said *said)
{
    DAT_COUNT head = (DAT_COUNT)sizeof said->hello;
    if (!data || bytes < head)
        return false;
    memcpy(&said->hello, data, sizeof said->hello);
    DAT_COUNT size = said->hello.size;
    if (said->hello.magic != BOND_MAGIC || size > bytes - head ||
        size > (DAT_COUNT)BOND_PRIVATE_MAX)
        return false;
    memcpy(said->data, (const char *)data + head, (size_t)size);
    return true;
}

void bond_say_different(const struct bond_ia *b)
{
    fprintf(stderr,
            "dapl bond: rail %s: the bond of the peer has other members\n",
            b->ia->name);
}

void bond_say_no_bond(const struct bond_ia *b)
{
    fprintf(stderr, "dapl bond: rail %s: the peer is no bond\n", b->ia->name);
}
