#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Intel MPI 2018, a closed program that speaks uDAPL, over our providers. It
# polls the last bytes of RDMA writes to memory that malloc gave it. With IAS:
# over these IAs of $DAT_OVERRIDE instead.
# shellcheck source=tests/integration/mpi.bash
. "${SOURCE:?}/tests/integration/mpi.bash"

impi=$wheels/impi2018
[ -e "$impi/complete" ] || skip 'Intel MPI 2018 is not here (make deps)'
programs=$BUILD/test/mpi
[ -x "$programs/mpi_exchange.mpich-wheel" ] || skip 'no MPICH: no programs (make deps)'

# It refuses to start where the system limits locked memory, which these
# providers do not lock, and where nobody can resolve the host's own name.
cat >"$work/system.c" <<'END'
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
int getrlimit(__rlimit_resource_t what, struct rlimit *limit)
{
    *limit = (struct rlimit){RLIM_INFINITY, RLIM_INFINITY};
    return what == RLIMIT_MEMLOCK
               ? 0
               : (int)syscall(SYS_prlimit64, 0, what, NULL, limit);
}
int gethostname(char *name, size_t size)
{
    snprintf(name, size, "localhost");
    return 0;
}
END
"${CC:-cc}" -shared -fPIC -o "$work/system.so" "$work/system.c" || exit 1

export DAT_OVERRIDE=${DAT_OVERRIDE:-$BUILD/lib/dapl_rail/dat.conf}
export I_MPI_ROOT=$impi LD_LIBRARY_PATH=$impi/lib I_MPI_HYDRA_BOOTSTRAP=fork
export I_MPI_FABRICS=dapl I_MPI_FALLBACK=0 I_MPI_PIN=0

# runs IA RANKS 'REGEX' PROGRAM…: ends well, and says that
runs()
{
    I_MPI_DAPL_PROVIDER=$1 LD_PRELOAD=$work/system.so timeout -k 5 60 \
        "$impi/bin/mpiexec.hydra" -n "$2" "${@:4}" >"$work/out" 2>&1 &&
        grep -q "$3" "$work/out" && return
    echo "status $?:"
    tail -30 "$work/out"
    return 1
}

# imb IA PROGRAM BENCHMARKS: so many of them
imb()
{
    runs "$1" 2 'entering MPI_Finalize' "$wheels/impi/bin/$2" -iter 5 \
        -time 2 -npmin 2 -msglen "$work/lengths" &&
        [ "$(grep -c '^# Benchmarking' "$work/out")" -eq "$3" ]
}
printf '%s\n' 8 70000 300000 >"$work/lengths"

for ia in $(tested_ias); do
    check "$ia: messages" runs "$ia" 3 '^0 failures$' \
        "$programs/mpi_exchange.mpich-wheel" 300
    check "$ia: collectives" runs "$ia" 3 '^0 failures$' \
        "$programs/mpi_calls.mpich-wheel"
    [ -x "$wheels/impi/bin/IMB-MPI1" ] || continue # of make deps-peers
    check "$ia: IMB-MPI1" imb "$ia" IMB-MPI1 19
    check "$ia: IMB-P2P" imb "$ia" IMB-P2P 6
    check "$ia: IMB-NBC" imb "$ia" IMB-NBC 13
    check "$ia: IMB-RMA" imb "$ia" IMB-RMA 26
done
