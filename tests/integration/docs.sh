#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages are free of warnings; what they and other texts name exists.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

no_warnings()
{
    local text
    text=$(groff -mandoc -Tutf8 -ww -z "$1" 2>&1)
    [ -z "$text" ] || {
        echo "$text"
        return 1
    }
}
for page in "$SOURCE"/docs/man/*.[1-9]; do
    check "$(basename "$page") has no warnings" no_warnings "$page"
done

check 'dapl_rail.3 has the words of dapl_rail.h' \
    python3 "$SOURCE/scripts/man-from-header" --check

# what has an end has it in an order, which the page tells
for call in $(grep -oE \
    'drail_([a-z_]*(close|free|leave|release|forget|interrupt)|gathered_[a-z]*)\(' \
    "$SOURCE/dapl_rail/dapl_rail.h" | tr -d '(' | sort -u); do
    check "dapl_rail.3 has $call" grep -q "^\.Fn $call\b" \
        "$SOURCE/docs/man/dapl_rail.3"
done

# options PAGE: those that a page documents
options()
{
    grep -E '^\.It Fl' "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl /-/' | sort -u
}
# the tests of railbench
tests()
{
    "$BUILD/bin/railbench" --help | awk '/^  [a-z]/ { print $1 }'
}
for program in railbench railinfo; do
    page=$SOURCE/docs/man/$program.1
    {
        "$BUILD/bin/$program" --help
        [ $program != railbench ] || for test in $(tests); do
            "$BUILD/bin/$program" "$test" --help
        done
    } >"$work/help" 2>&1
    for option in $(options "$page"); do
        check "$program has $option" grep -q -- "$option" "$work/help"
    done
    for option in $(grep -oE -- '--[a-z-]+' "$work/help" | sort -u); do
        check "$program.1 has $option" grep -q -- "Fl -${option#--}" "$page"
    done
done

# memory_table: one row for each algorithm, with the words of its file
memory_table()
{
    python3 - "$SOURCE" <<'PY'
import glob
import re
import subprocess
import sys
source = sys.argv[1]
with open(f"{source}/docs/collectives.md", encoding="utf-8") as f:
    rows = set(re.findall(r"^\| (?:allgather|alltoallv?|barrier|bcast|gather|"
                          r"reduce|allreduce|reduce_scatter_block|scan|exscan|"
                          r"scatter) \| `.*\|$", f.read(), re.M))
wanted = set()
text = subprocess.run(["cc", "-E", "-P", "-I", source,
                       *glob.glob(f"{source}/coll/algorithms/*/*.c")],
                      check=True, text=True, stdout=subprocess.PIPE).stdout
strings = r'((?:"[^"]*"\s*)+)'
for name, collective, memory in re.findall(
        rf"\.name = {strings},.*?\.collective = DCOLL_(\w+),.*?"
        rf"\.memory = {strings}", text, re.S):
    name, memory = ("".join(re.findall('"([^"]*)"', s)) for s in (name, memory))
    wanted.add(f"| {collective.lower()} | `{name}` | {memory} |")
print("missing:", wanted - rows, "too many:", rows - wanted)
sys.exit(len(wanted) < 30 or wanted != rows)
PY
}
check 'memory of each algorithm is in docs/collectives.md' memory_table

# named_exist FILE…: source files that texts name exist, by their name or the
# end of their path, and have what is named beside them (`file.c`: `a`, `b`)
named_exist()
{
    python3 - "$SOURCE" "$@" <<'PY'
import os
import re
import sys
root, *texts = sys.argv[1:]
parts = ("bench", "coll", "dapl_rail", "dsm", "examples", "mpi",
         "providers", "tests")
ours = [os.path.join(folder, name) for part in parts
        for folder, _, names in os.walk(os.path.join(root, part))
        for name in names if name.endswith((".c", ".h"))]
gone = set()
def named(name):
    return [path for path in ours if path.endswith("/" + name.lstrip("./"))]
def reads(path):
    with open(path, encoding="utf-8") as f:
        return f.read()
for path in texts or ours:
    text = re.sub(r"^#include.*|<\S+\.h>|->[\w.]+", "", reads(path),
                  flags=re.M)
    gone |= {(path, name) for name in re.findall(r"[\w./-]*\w\.[ch]\b", text)
             if not named(name)
             and not os.path.basename(name).startswith("dat_")}
    for name, inside in re.findall(r"`(\w+\.c)`: ((?:`\w+`(?:, )?)+)", text):
        gone |= {(path, name, word) for word in re.findall(r"\w+", inside)
                 if not any(re.search(rf"\b{word}\b", reads(file))
                            for file in named(name))}
for what in sorted(gone):
    print("gone:", *what)
sys.exit(bool(gone))
PY
}
mapfile -t texts < <(find "$SOURCE/docs" "$SOURCE/README.md" \
    "$SOURCE/CONTRIBUTING.md" -name '*.md' -o -name '*.[1-9]')
check 'texts name what exists' named_exist "${texts[@]}"
check 'comments name files that exist' named_exist
fails()
{
    ! "$@" >/dev/null
}
for line in 'as in messages/no_such.c' '`link.c`: `evd_check`, `no_such`'; do
    echo "$line" >"$work/text"
    check "gone is: $line" fails named_exist "$work/text"
done

# one_version: all places name the same one
one_version()
{
    local version place
    version=$(sed -n 's/^VERSION *:= *//p' "$SOURCE/Makefile")
    for place in "dapl_rail/dapl_rail.h:DRAIL_VERSION \"$version\"" \
        "debian/changelog:dapl-rail ($version)" \
        "CHANGELOG.md:## $version" "CITATION.cff:version: $version" \
        "README.md:$version" "packaging/dapl-rail.def:dapl_rail-$version" \
        "packaging/spack/spack_repo/dapl_rail/packages/dapl_rail/package.py:version(\"$version\""; do
        grep -qF "${place#*:}" "$SOURCE/${place%%:*}" || {
            echo "no ${place#*:} in ${place%%:*}"
            return 1
        }
    done
    # the newest comes first
    head -5 "$SOURCE/CHANGELOG.md" "$SOURCE/debian/changelog" |
        grep -c -F "$version" | grep -qx 2
}
check 'all places name one version' one_version
check 'the README fits one screen' [ "$(wc -l <"$SOURCE/README.md")" -le 120 ]
check 'recipes are Python' python3 -c 'import ast, sys
for path in sys.argv[1:]:
    ast.parse(open(path, encoding="utf-8").read(), path)' \
    "$SOURCE"/packaging/spack/spack_repo/*/packages/*/package.py
for script in "$SOURCE"/examples/slurm/*; do
    check "$(basename "$script") is a script" bash -n "$script"
done

# linked FILE…: what Markdown links to in this repository is there
linked()
{
    python3 - "$@" <<'PY'
import os
import re
import sys
gone = []
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as f:
        text = re.sub(r"^```.*?^```", "", f.read(), flags=re.M | re.S)
    gone += [(path, to) for to in re.findall(r"\]\(([^)#\s]+)", text)
             if "://" not in to and not os.path.exists(
                 os.path.join(os.path.dirname(path), to))]
for what in gone:
    print("gone:", *what)
sys.exit(bool(gone))
PY
}
# explained FOLDER: each folder with data below it has a README.md
explained()
{
    local folder
    while read -r folder; do
        [ -s "$folder/README.md" ] || [ -s "$folder/../README.md" ] && continue
        echo "no README.md in $folder"
        return 1
    done < <(find "$1" -type f -printf '%h\n' | sort -u)
}
mapfile -t texts < <(find "$SOURCE/docs" "$SOURCE/results" "$SOURCE/bench" \
    "$SOURCE/README.md" "$SOURCE/CONTRIBUTING.md" -name '*.md')
check 'links lead somewhere' linked "${texts[@]}"
echo 'see [it](no/such.svg)' >"$work/text"
check '… or are found' fails linked "$work/text"
check 'folders of results are explained' explained "$SOURCE/results"
# results_index: results/README.md names each recorded folder; not those that
# were measured here, whose names have host and date (make bench)
results_index()
{
    local folder date='[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]'
    while read -r folder; do
        grep -qF "($folder)" "$SOURCE/results/README.md" && continue
        echo "results/$folder is not in the index"
        return 1
    done < <(cd "$SOURCE/results" && find . -mindepth 2 -name README.md \
        ! -path "./*-$date*/*" -printf '%P\n' | sed 's|/README.md||')
}
check 'folders of results are in their index' results_index
# bench_folders: bench/README.md names all
bench_folders()
{
    local folder
    for folder in "$SOURCE"/bench/*/; do
        grep -q "($(basename "$folder"))" "$SOURCE/bench/README.md" ||
            return 1
    done
}
check 'folders of bench are explained' bench_folders

# nothing that the reference can't make sense of
reference()
{
    make -s -C "$SOURCE" BUILD="$work/build" doxygen >"$work/out" 2>&1 &&
        grep -q 'drail_open' "$work"/build/doc/html/*.html || {
        cat "$work/out"
        return 1
    }
}
if command -v doxygen >/dev/null; then
    check 'the reference, without a warning' reference
fi

# examples say how they are compiled
says_how()
{
    local library
    library=$(grep -oE '#include <(dapl_rail|coll|dsm)/' "$1" | tail -1)
    case $library in
    *dapl_rail/) grep -q 'pkg-config --cflags --libs dapl_rail)' "$1" ;;
    *coll/) grep -q 'pkg-config --cflags --libs dcoll)' "$1" ;;
    *dsm/) grep -q 'pkg-config --cflags --libs ddsm)' "$1" ;;
    esac
}
for example in $(grep -lE '^int main' "$SOURCE"/examples/*.c \
    "$SOURCE"/examples/*/*.c); do
    check "$(basename "$example") says how it is compiled" says_how "$example"
done
