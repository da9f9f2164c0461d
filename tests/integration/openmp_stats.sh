#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# RAILOMP_STATS: what the ranks have done; and scripts/compare-openmp.
# shellcheck source=tests/integration/openmp.bash
. "${SOURCE:?}/tests/integration/openmp.bash"

# 40 regions with a barrier each: in each of them the first thread writes 64
# pages, which all threads read after the barrier
cat >pages.c <<'END'
#include <omp.h>
#include <stdio.h>
enum { PAGES = 64, WORDS = 512, TIMES = 40 };
static long page[PAGES][WORDS];
int main(void)
{
    long sum = 0;
    for (int i = 0; i < TIMES; i++) {
#pragma omp parallel reduction(+ : sum)
        {
            if (omp_get_thread_num() == 0)
                for (int p = 0; p < PAGES; p++)
                    page[p][i] = p;
#pragma omp barrier
            for (int p = 0; p < PAGES; p++)
                sum += page[p][i];
#pragma omp critical
            page[0][WORDS - 1]++;
        }
    }
    printf("%ld %ld\n", sum, page[0][WORDS - 1]);
}
END
check 'pages.c' "$BUILD/bin/railomp-cc" -O2 pages.c -o pages

# stats RANKS THREADS: the program's line, and one of each rank behind a title;
# then come regions and variables, which have no number of a rank
stats()
{
    RAILOMP_STATS=1 RAILOMP_RANKS=$1 OMP_NUM_THREADS=$2 timeout -k 5 60 \
        ./pages >out 2>err
    cmp out <(echo "$(($1 * $2 * 40 * 63 * 32)) $(($1 * $2 * 40))") &&
        [ "$(grep -c '^railomp: [ 0-9][ 0-9][ 0-9][0-9] ' err)" -eq "$1" ] &&
        head -n 1 err | grep -q '^railomp: rank  *regions  *barriers ' ||
        { cat err && return 1; }
}
# column NAME RANK: its number
column()
{
    awk -v name="$1" -v rank="$2" '
        NR == 1 { for (i = 2; i <= NF; i++) if ($i == name) at = i }
        NR > 1 && $2 == rank { print $at; exit }' err
}
for shape in '1 2' '2 1' '2 2'; do
    check "${shape/ / rank(s) x }" stats "${shape% *}" "${shape#* }"
    for rank in $(seq 0 $((${shape% *} - 1))); do
        check "… rank $rank: regions and barriers" \
            [ "$(column regions "$rank") $(column barriers "$rank")" = '40 40' ]
    done
done
check '… whose memory is shared' [ "$(column memory 1)" = shared ]
check '… so no page is fetched' [ "$(column pages 1)$(column read_faults 1)" = 00 ]
export RAILOMP_PAGES=copied
stats 2 1
check '… or copied' [ "$(column memory 1)" = copied ]
check 'critical sections are locks' [ "$(column locks 1)" -ge 40 ]
check 'a page of rank 0 is fetched' [ "$(column pages 1)" -ge 1 ]
check '… as bytes' [ "$(column fetched_bytes 1)" -eq \
    $(($(column pages 1) * $(getconf PAGESIZE))) ]
check '… and most of them were foreseen' awk -v n="$(column coverage 1)" \
    'BEGIN { exit !(n + 0 >= 50) }'
RAILOMP_STATS=0 RAILOMP_RANKS=2 OMP_NUM_THREADS=1 ./pages >out 2>err
check 'RAILOMP_STATS=0 is silent' test ! -s err
RAILOMP_STATS=yes RAILOMP_RANKS=2 ./pages >out 2>err
check 'RAILOMP_STATS=yes is refused' exited_with 2 $?
check '… with a sentence' grep -q "RAILOMP_STATS 'yes' is wrong" err

unset RAILOMP_PAGES
stats 1 1
check 'one rank has its own memory' [ "$(column memory 0)" = own ]
export RAILOMP_PAGES=copied

# --- regions and variables --------------------------------------------------------

# Three regions, 5 times each: threads that write parts of an array of their own;
# that write every second word of another one; that take turns at a lock, which
# its holder keeps while it sleeps: so the others wait also on a busy machine.
cat >regions.c <<'END'
#include <time.h>
enum { WORDS = 1 << 16, SLOTS = 1 << 12, TURNS = 50 };
static int whole[WORDS], split[SLOTS], turns;
static void own_parts(void)
{
#pragma omp parallel for
    for (int i = 0; i < WORDS; i++)
        whole[i] += i;
}
static void same_pages(void)
{
#pragma omp parallel for schedule(static, 1)
    for (int i = 0; i < SLOTS; i++)
        split[i] += i;
}
static void take_turns(void)
{
#pragma omp parallel
    for (int i = 0; i < TURNS; i++) {
#pragma omp critical
        {
            turns++;
            nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
    }
}
int main(void)
{
    for (int i = 0; i < 5; i++) {
        own_parts();
        same_pages();
        take_turns();
    }
    return whole[1] + split[1] + turns != 5 + 5 + 5 * 2 * TURNS;
}
END
check 'regions.c' "$BUILD/bin/railomp-cc" -O1 regions.c -o regions
# of_region COLUMN NAME, of_variable COLUMN NAME: the number in that column, by
# its title
of_table()
{
    awk -v table="$1" -v name="$2" -v row="$3" '
        $2 == table || $2 == "region" || $2 == "variable" || $2 == "rank" {
            inside = $2 == table
            for (i = 2; i <= NF; i++) if ($i == name) at = i
            next
        }
        inside && $0 ~ row { print $at }' err
}
of_region()
{
    of_table region "$@"
}
of_variable()
{
    of_table variable "$@"
}
RAILOMP_STATS=1 RAILOMP_RANKS=1 OMP_NUM_THREADS=2 timeout -k 5 60 ./regions 2>err
check 'one rank' exited_with 0 $?
check '… has regions' [ "$(of_region times own_parts)" = 5 ]
check '… and no variables' [ -z "$(of_variable faults '')" ]
RAILOMP_STATS=1 RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./regions 2>err
check 'two ranks' exited_with 0 $?
for region in own_parts same_pages take_turns; do
    check "… times of $region" [ "$(of_region times $region)" = 5 ]
done
check '… locks are of their region' \
    [ "$(of_region locks take_turns) $(of_region locks own_parts)" = '500 0' ]
check '… parts of an array are not written by both ranks' \
    [ "$(of_region shared_writes own_parts)" -lt 64 ]
check '… pages of every second word are' \
    [ "$(of_region shared_writes same_pages)" -ge 16 ]
check '… also as a variable' [ "$(of_variable shared split)" -ge 4 ]
check '… whose faults are counted' [ "$(of_variable faults split)" -ge 8 ]
check '… what takes turns has an advice' grep -q 'take_turns.*; use reductions' err
check 'communication of regions, and of those that move more than 1 MB' \
    env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SOURCE/tools" python3 -c '
from railtools.openmp_hosts import communication_of
from railtools.openmp_programs import regions_of
with open("err", encoding="utf-8") as text:
    regions = regions_of(text.read())
assert regions["take_turns._omp_fn.0"]["locks"] == 500, regions
assert list(communication_of(regions)) == ["communication"]
regions["take_turns._omp_fn.0"]["put_bytes"] = 6 << 20
assert len(communication_of(regions)) == 2'
strip regions
RAILOMP_STATS=1 RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./regions 2>err
check 'a program without symbols' exited_with 0 $?
check '… has regions without names' [ "$(grep -c 'no symbol' err)" -eq 3 ]

unset RAILOMP_PAGES
RAILOMP_STATS=1 RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./regions 2>err
check 'two ranks that share memory' exited_with 0 $?
check '… are not told that they write the same pages' \
    [ "$(grep -c 'same pages' err)" -eq 0 ]

# --- more regions than have a line of their own --------------------------------

# The last rank takes part in every second one of the first 200, then in all.
{
    echo 'static int n;'
    for i in $(seq 0 399); do
        threads=$((i < 200 && i % 2 ? 1 : 2))
        echo "static void f$i(void)"
        echo '{'
        echo "_Pragma(\"omp parallel num_threads(THREADS($threads))\")"
        echo '_Pragma("omp critical")'
        echo 'n++;'
        echo '}'
    done
    echo 'int main(void)'
    echo '{'
    for i in $(seq 0 399); do
        echo "f$i();"
    done
    echo 'return n != 3 * 300 + 2 * 100;'
    echo '}'
} >many.c
check 'many.c' "$BUILD/bin/railomp-cc" '-DTHREADS(n)=n == 1 ? 2 : 3' -O0 many.c \
    -o many
RAILOMP_STATS=1 RAILOMP_RANKS=3 OMP_NUM_THREADS=1 timeout -k 5 60 ./many 2>err
# each thread has taken a lock in each region
check 'locks of all regions' [ "$(awk '$2 == "region" { inside = 1; next }
    $2 == "variable" { inside = 0 } inside { sum += $12 } END { print sum }' err)" \
    -eq 1100 ]

# --- scripts/compare-openmp -----------------------------------------------------

RAILOMP_STATS=1 RAILOMP_RANKS=2 OMP_NUM_THREADS=1 timeout -k 5 60 ./regions 2>err
check 'the costs of an iteration are those of the ranks, not of the regions' \
    env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$SOURCE/tools" python3 -c '
from railtools.openmp_programs import costs_of
with open("err", encoding="utf-8") as text:
    costs = costs_of(" Iterations      =    2", text.read())
assert costs["regions"] > 0 and costs["rank"] == 0.5, costs'
compare=$SOURCE/scripts/compare-openmp
refused 'no shape' "shapes.*'2'" "$compare" --shapes 2
refused 'between hosts without NPB' 'hosts: .*needs --npb' "$compare" --hosts
refused 'no rank' "'0x1'" "$compare" --shapes 0x1
refused 'programs of NPB, whose folder is missing' 'needs --npb' "$compare" \
    --programs ep
refused 'a folder that is not NPB' "npb: '.*' is wrong" "$compare" --npb "$work"
check 'constructs, one round' "$compare" --repeat 1 --times 20 --shapes 2x1 \
    "$work/result" >/dev/null
report=$work/result/openmp.txt
for construct in 'empty region' barrier 'critical section' \
    'chunk of a dynamic loop'; do
    check "… $construct" grep -Eq "^$construct +2 x 1 +[0-9.]+ .* [0-9.]+ " \
        "$report"
done
check '… the command' grep -q 'RAILOMP_RANKS=2 .*constructs.railomp 20$' "$report"
check '… each round' [ "$(grep -c '^constructs,barrier,' \
    "$work/result/openmp-samples.csv")" -eq 2 ]
check '… no path' sh -c '! grep -q "$0" "$1"' "$work" "$report"
