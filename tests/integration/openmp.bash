# SPDX-License-Identifier: BSD-3-Clause
# Shared by the tests of OpenMP programs on several ranks.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

[ -x "$BUILD/bin/railomp-cc" ] ||
    skip 'no gcc-12-plugin-dev was there when this was built'
cd "$work" || exit 1
unset OMP_SCHEDULE OMP_NUM_THREADS RAILOMP_RANKS RAILOMP_PAGES RAILOMP_STATS

# a library that is preloaded comes before that of the sanitizer; crashes are to
# be told by the runtime
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0:handle_segv=0:handle_abort=0
