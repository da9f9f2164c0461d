#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# OpenMP programs on several ranks: a file, a descriptor, the environment and the
# directory belong to a process.
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

cat >reads.c <<'END'
#include <omp.h>
#include <stdio.h>
int main(void)
{
    FILE *file = tmpfile();
    char line[10];
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        fgets(line, sizeof line, file);
    return 0;
}
END
"$BUILD/bin/railomp-cc" reads.c -o reads
refused 'a rank reads a file of another one' 'rank.1:.fgets...is.not.served' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./reads

# a descriptor is one of the rank that has opened it
cat >descriptor.c <<'END'
#include <fcntl.h>
#include <omp.h>
#include <unistd.h>
int main(void)
{
    int fd = 0;
    char byte = 0;
    for (int i = 0; i < 50; i++) /* more than a rank has */
        fd = open("/dev/null", O_RDWR);
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        CALL(fd, &byte, 1, 0);
    return 0;
}
END
for call in read write pread pwrite; do
    arguments='fd, to, n'
    [ "${call#p}" = "$call" ] || arguments='fd, to, n, at'
    "$BUILD/bin/railomp-cc" "-DCALL(fd, to, n, at)=$call($arguments)" descriptor.c -o descriptor
    refused "$call of a descriptor of another rank" \
        "rank.1:.$call...is.not.served.for.descriptor" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./descriptor
done

# The number may be that of a descriptor which the runtime uses in this rank.
cat >sockets.c <<'END'
#include <fcntl.h>
#include <omp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>
int main(void)
{
    char byte = 0;
#pragma omp parallel
    if (omp_get_thread_num() == omp_get_num_threads() - 1)
        for (int fd = 3; fd < 1000; fd++)
            if (fcntl(fd, F_GETFD) >= 0)
                CALL(fd, &byte);
    return 0;
}
END
for call in 'read(fd, to, 0)' 'write(fd, to, 0)' 'close(fd)' 'dup2(0, fd)' 'listen(fd, 1)' \
    'shutdown(fd, SHUT_RD)' 'epoll_ctl(fd, EPOLL_CTL_DEL, 0, NULL)' \
    'epoll_ctl(0, EPOLL_CTL_DEL, fd, NULL)' 'epoll_wait(fd, (void *)to, 0, 0)' \
    'epoll_pwait(fd, (void *)to, 0, 0, NULL)'; do
    "$BUILD/bin/railomp-cc" "-DCALL(fd, to)=$call" sockets.c -o sockets
    refused "$call of a descriptor of the runtime" \
        "rank.1:.${call%%(*}...is.not.served.for.descriptor" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./sockets
done

"$BUILD/bin/railomp-cc" '-DCALL(fd, to)=if (vfork() == 0) { close(fd); _exit(0); }' sockets.c -o sockets
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./sockets
check '... a child closes what it likes' [ $? -eq 0 ]

# Two ranks fail, and the first one has to wait before it can say so.
sed 's/== omp_get_num_threads() - 1/> 0/' descriptor.c >both.c
"$BUILD/bin/railomp-cc" '-DCALL(fd, to, n, at)=read(fd, to, n)' both.c -o both
{
    head -c 65536 /dev/zero # a pipe's room
    env RAILOMP_RANKS=3 OMP_NUM_THREADS=1 ./both 2>&1
} | (
    sleep 1
    tr -d '\0' >both.err
)
check 'two ranks that fail at once: one says so' \
    [ "$(grep -c '^railomp: rank [12]: read' both.err)" -eq 1 ]

# of_headers NAME OPTIONS STATEMENT: headers make other calls of what is read
of_headers()
{
    sed "s/fgets(.*/$3/" reads.c >other.c
    check "… $1: builds" "$BUILD/bin/railomp-cc" -O1 "$2" other.c -o other
    refused "… $1" "rank.1:.$1...is.not.served" \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./other
}
of_headers fgets -D_FORTIFY_SOURCE=2 \
    '{ char own[10]; fgets(own, 5 + omp_get_level(), file); }'
of_headers fread -D_FORTIFY_SOURCE=2 \
    '{ char own[10]; line[0] = fread(own, 1, 5 + omp_get_level(), file); }'
of_headers freopen64 -D_FILE_OFFSET_BITS=64 'freopen("reads.c", "r", file);'
of_headers fgetpos -g '{ fpos_t position; fgetpos(file, \&position); }'
of_headers setbuffer -g '{ setbuffer(file, NULL, 0); }'
of_headers getw -g '{ line[0] = getw(file); }'

cat >files.c <<'END'
#include <stdio.h>
#include <sys/resource.h>
int main(void)
{
    struct rlimit limit;
    int files = 0;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max < 3000 ? limit.rlim_max : 3000;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < 1100)
        return 77;
    while (files < 1100 && fopen("/dev/null", "r"))
        files++;
    return 0;
}
END
"$BUILD/bin/railomp-cc" files.c -o files
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 1100 ]; then
    refused 'more files than a rank may have' 'more.than.1024.open.files' \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./files
else
    echo 'skipped: the limit of open files is below 1100'
fi

# The first output comes after a region: a terminal shows each line at once.
cat >prompt.c <<'END'
#include <stdio.h>
int main(void)
{
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
    printf("%d threads\n", threads);
    return getchar() != 'x';
}
END
"$BUILD/bin/railomp-cc" prompt.c -o prompt
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 python3 -c '
import os, pty, select, sys
pid, terminal = pty.fork()
if not pid:
    os.execv("./prompt", ["./prompt"])
shown = select.select([terminal], [], [], 10)[0]
os.write(terminal, b"x\n")
os.waitpid(pid, 0)
sys.exit(not shown)'
check 'a terminal shows a line at once' exited_with 0 $?

# The program ends in a region, after another rank has written to its file.
cat >exits.c <<'END'
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    FILE *file = fopen("exits.out", "w");
    int written = 0;
#pragma omp parallel
    for (;;) {
#pragma omp critical
        {
            if (omp_get_thread_num()) {
                if (!written++)
                    fprintf(file, "of the other rank\n");
            } else if (written) {
                fprintf(file, "of rank 0\n");
                exit(5);
            }
        }
    }
}
END
"$BUILD/bin/railomp-cc" exits.c -o exits
for pages in shared copied; do
    RAILOMP_PAGES=$pages RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./exits >out 2>err
    check "exit in a region, pages are $pages" exited_with 5 $?
    check '... nothing is lost' cmp exits.out <(printf 'of the other rank\nof rank 0\n')
done

# Fortran: what libgfortran would write when the process ends normally, which only
# rank 0 does.
cat >units.f90 <<'END'
program units
  use omp_lib
  implicit none
  character(20) :: text
  !$omp parallel private(text)
  if (omp_get_thread_num() == 1) then
     open (10, file='units.out')
     write (10, '(a)') 'of a file'
     write (0, '(a)') 'an error'
     call fput(':')
     write (text, '(i4)') nested()
  end if
  !$omp barrier
  if (omp_get_thread_num() == 0) write (0, '(a)') 'after it'
  !$omp end parallel
contains
  integer function nested()
    print '(a)', 'nested'
    nested = 1
  end function
end program
END
"$BUILD/bin/railomp-fortran" units.f90 -o units
RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./units >out 2>err
check 'Fortran units of another rank' exited_with 0 $?
check '... its file' cmp units.out <(echo 'of a file')
check '... errors' cmp err <(printf 'an error\nafter it\n')
check '... output within a statement' cmp out <(echo ':nested')

# a unit that rank 0 has opened: another rank would write to fort.10, or to its own
# standard output
for unit in 10 6 newunit; do
    cat >unit.f90 <<'END'
program unit
  use omp_lib
  integer :: u = UNIT
  open (OPEN, file='unit.out')
  !$omp parallel
  if (omp_get_thread_num() == 1) write (u, *) 'of rank 1'
  !$omp end parallel
  close (u)
end program
END
    case $unit in
    newunit) sed -i 's/UNIT/0/; s/OPEN/newunit=u/' unit.f90 ;;
    *) sed -i "s/UNIT/$unit/; s/OPEN/u/" unit.f90 ;;
    esac
    "$BUILD/bin/railomp-fortran" unit.f90 -o unit
    refused "unit $unit of another rank" 'rank.1:.unit.[-0-9]+.is.not.served' \
        env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./unit
    check '... its own rank may use it' env RAILOMP_RANKS=1 OMP_NUM_THREADS=2 ./unit
done

# the first use opens fort.10; an open that fails does not
cat >unit.f90 <<'END'
program unit
  use omp_lib
  integer :: status
  open (11, file='none/unit.out', iostat=status)
  write (10, *) 'of rank 0'
  !$omp parallel
  if (omp_get_thread_num() == 1) write (UNIT, *) 'of rank 1'
  !$omp end parallel
end program
END
for unit in 10 11; do
    sed "s/UNIT/$unit/" unit.f90 >used.f90
    "$BUILD/bin/railomp-fortran" used.f90 -o "used$unit"
done
refused 'a unit that another rank has used first' 'rank.1:.unit.10.is.not.served' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./used10
check 'a unit whose open has failed' \
    env RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./used11

# --- environment and directory ----------------------------------------------------

cat >directory.c <<'END'
#include <limits.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    char folder[] = "directory.XXXXXX", there[PATH_MAX], here[PATH_MAX];
    int wrong = !mkdtemp(folder) || !realpath(folder, there) || chdir(folder);
    (void)argc;
    if (!strcmp(argv[1], "ends")) /* no rank needs to be there */
        return wrong + rmdir(there);
    if (!strcmp(argv[1], "back")) {
        wrong += chdir("/") + rmdir(there);
        strcpy(there, "/");
    }
    if (!strcmp(argv[1], "gone"))
        wrong += rmdir(there);
#pragma omp parallel private(here) reduction(+ : wrong)
    wrong += !getcwd(here, sizeof here) || strcmp(here, there) != 0;
    return wrong;
}
END
"$BUILD/bin/railomp-cc" directory.c -o directory
for pages in shared copied; do
    two_ranks=(env "RAILOMP_PAGES=$pages" RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60)
    for way in back ends; do
        "${two_ranks[@]}" ./directory $way >out 2>&1
        check "a directory that is gone: $way, pages are $pages" exited_with 0 $?
        check '... silently' test ! -s out
    done
    "${two_ranks[@]}" ./directory gone >out 2>err
    check 'a rank must go to a directory that is gone' exited_with 1 $?
    check '... and says so' grep -Eq \
        '^railomp: rank 1: rank 0 has changed the directory to .*, but this rank can.t: No such file' err
done

# putenv: with one rank the environment has the caller's text, as ever. Another
# program has what a constructor puts.
cat >puts.c <<'END'
#include <stdlib.h>
#include <string.h>
static char text[] = "RAIL_PUT=first", early[] = "RAIL_EARLY=yes";
__attribute__((constructor)) static void put(void)
{
    putenv(early);
}
#ifdef OWN
int setenv(const char *name, const char *value, int replaces)
{
    char *all = malloc(strlen(name) + strlen(value) + 2);
    strcat(strcat(strcpy(all, name), "="), value);
    return replaces ? putenv(all) : -1;
}
#endif
int main(int argc, char **argv)
{
    int wrong = putenv(text) + setenv("RAIL_SET", "yes", 1);
    strcpy(text + 9, "other");
    wrong += argc > 1 && strcmp(getenv("RAIL_PUT"), argv[1]) != 0;
#pragma omp parallel reduction(+ : wrong)
    {
        strcpy(early, "RAIL_EARLY=yes"); /* the page goes */
        wrong += strcmp(getenv("RAIL_SET"), "yes") != 0;
    }
    return wrong + system("test $RAIL_SET$RAIL_EARLY = yesyes");
}
END
for own in -DOTHER -DOWN; do
    "$BUILD/bin/railomp-cc" $own puts.c -o puts
    check "putenv with one rank, $own" env OMP_NUM_THREADS=2 timeout -k 5 60 ./puts other
    check "putenv with two ranks, $own" env RAILOMP_PAGES=copied RAILOMP_RANKS=2 \
        OMP_NUM_THREADS=1 timeout -k 5 60 ./puts first
done
