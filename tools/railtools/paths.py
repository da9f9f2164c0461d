# SPDX-License-Identifier: BSD-3-Clause
"""Where the tree, its programs and the running script are."""
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(
    __file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
# programs run in ROOT, so that the commands tell no path of this machine
BIN = os.path.join(os.environ.get("BUILD", "build"), "bin")
RAILBENCH = os.path.join(BIN, "railbench")
NAME = os.path.join("scripts", os.path.basename(sys.argv[0]))


def revision():
    """The one that was built."""
    with open(os.path.join(BUILD, "revision"), encoding="ascii") as file:
        return file.read().strip()
