#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tutorial's steps that need neither root nor hardware print what it says;
# commands in documents have options that there are; the README's C compiles.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"
# shellcheck source=tests/integration/tutorial.bash
. "$SOURCE/tests/integration/tutorial.bash"

[ -e "$BUILD/lib/dapl_rail/libdapl_ofi.so" ] ||
    skip 'built without libfabric: the tutorial has rails over TCP'
check 'the steps print what the tutorial says' tutorial_steps 100
check 'nothing is left behind' tutorial_leaves_nothing

# options_exist FILE…: railbench has the tests and options that texts name
options_exist()
{
    python3 - "$BUILD/bin/railbench" "$@" <<'PY'
import functools
import re
import subprocess
import sys
bench, *texts = sys.argv[1:]
@functools.cache
def help_of(*test):
    return subprocess.run([bench, *test, "--help"], text=True, check=False,
                          stdout=subprocess.PIPE).stdout
wrong = set()
named = 0
for path in texts:
    with open(path, encoding="utf-8") as f:
        text = f.read().replace("\\\n", " ")
    for command in re.findall(r"railbench ([a-z][^`\n|#]*)", text):
        command = command.split(",")[0]
        test, *words = command.split()
        options = [w for w in words if w.startswith("--")]
        named += len(options)
        if not re.search(rf"^  {test}\b|also {test}\)", help_of(), re.M):
            wrong |= {(path, command)} if options else set()
            continue
        wrong |= {(path, command, option) for option in options
                  if not re.search(rf"{option}\b", help_of(test))}
for what in sorted(wrong):
    print("wrong:", *what)
sys.exit(bool(wrong) or not named)
PY
}
check 'texts name options that there are' options_exist \
    "$SOURCE"/README.md "$SOURCE"/docs/*.md "$SOURCE"/examples/slurm/*
echo 'railbench bw --no-such' >"$work/text"
fails()
{
    ! "$@" >/dev/null
}
check 'an option that is not there is found' fails options_exist "$work/text"

# the README's C, with the declarations that it leaves out
readme_compiles()
{
    {
        echo '#include "dapl_rail/dapl_rail.h"'
        echo '#define BYTES (1 << 20)'
        echo 'int rank_main(drail_job_t *job, void *arg);'
        echo 'int rank_main(drail_job_t *job, void *arg) {'
        echo 'drail_config_t config; drail_t *rails; drail_mem_t *mem;'
        echo 'void *buffer; (void)arg;'
        echo 'drail_key_t key, keys[2]; uint32_t id;'
        sed -n '/^```c$/,/^```$/p' "$SOURCE/README.md" | grep -v '^```'
        echo 'return 0; }'
    } >"$work/readme.c"
    grep -q drail_put "$work/readme.c" &&
        "${CC:-cc}" -Wall -Wextra -Werror \
            -I"$SOURCE" -c "$work/readme.c" -o "$work/readme.o"
}
check "the README's C compiles" readme_compiles
