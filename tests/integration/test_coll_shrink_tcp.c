/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks die and the others shrink their team: over TCP. */
#include "conf.h"
#include "shrink_scene.h"
#include "tests/stand_in.h"

/* Memory of drail_mem_alloc(). */
enum { HANDLES = 256 };
static struct {
    drail_mem_t *mem; /* NULL: released */
    unsigned refusals;
} handles[HANDLES];
static unsigned nhandles;

STAND_IN int drail_mem_alloc(drail_t *rail, size_t bytes, unsigned access,
                             void **address, drail_mem_t **mem)
{
    int rc = real(drail_mem_alloc)(rail, bytes, access, address, mem);
    check(nhandles < HANDLES);
    if (!rc)
        handles[nhandles++].mem = *mem;
    return rc;
}

static unsigned handle_of(drail_mem_t *mem)
{
    unsigned i = 0;
    while (i < nhandles && handles[i].mem != mem)
        i++;
    return i;
}

static int released(unsigned i, int rc)
{
    if (i < nhandles && rc)
        handles[i].refusals++;
    else if (i < nhandles)
        handles[i].mem = NULL;
    return rc;
}

STAND_IN int drail_mem_release(drail_mem_t *mem)
{
    return released(handle_of(mem), real(drail_mem_release)(mem));
}

/* The first attempt asks the peers: it may be refused. */
STAND_IN int drail_mem_try_release(drail_mem_t *mem)
{
    unsigned i = handle_of(mem);
    bool refused = i < nhandles && !handles[i].refusals;
    return released(i, refused ? DRAIL_EDAT : real(drail_mem_try_release)(mem));
}

/* So there was another. */
STAND_IN int drail_close(drail_t *rail)
{
    for (unsigned i = 0; i < nhandles; i++)
        check(!handles[i].mem || handles[i].refusals > 1);
    return real(drail_close)(rail);
}

int main(int argc, char **argv)
{
    if (!conf_has_ofi()) {
        printf("1..0 # skipped: there is no libfabric here\n");
        return 77;
    }
    conf_restart(argv, RAIL_OF("ofi", "tcp-a", "device=lo")
                           RAIL_OF("ofi", "tcp-b", "device=lo"));
    setenv("DRAIL_RAILS", "tcp-a,tcp-b", 1);
    return shrink_all(argc, argv);
}
