#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The README's table has the figures of recorded results.
# shellcheck source=tests/integration/checks.bash
. "${SOURCE:?}/tests/integration/checks.bash"

figures()
{
    PYTHONPATH=$SOURCE/tools python3 -B -c '
import sys
from railtools.readme_figures import main
sys.exit(main())' "$@"
}
others()
{
    ! figures "$work/README.md" >"$work/said" && grep -q "no '119' in" "$work/said"
}

check 'figures of the README' figures
sed 's/| 119 |/| 118 |/' "$SOURCE/README.md" >"$work/README.md"
check '... others are found' others
