# SPDX-License-Identifier: BSD-3-Clause
"""Results of railbench in Python, and what the programs of scripts/ share.

load("bw.json") gives a table: a row for each size and configuration."""
from railtools.table import load, rows

__all__ = ["load", "rows"]
