#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the README's table "Does a second rail pay?" with recorded results.

usage: readme_figures.py [--show] SOURCE

A row that links to a folder with p2p-samples.csv has, of messages of 1 MB, the
median rate of one rail, and the median ratio of engine auto to it in the same
rounds, with its 95 % interval. A row that links to one with hosts.txt has the
rate of one rail there, and the ratio that it names. --show prints them."""

import csv
import math
import os
import re
import statistics
import sys

SIZE = "1048576"


def interval(values):
    """The 95 % interval of the median, by order statistics."""
    values, n = sorted(values), len(values)
    lowest, outside = 0, 0.0
    for k in range(n // 2):
        outside += 2 * math.comb(n, k) / 2 ** n
        if outside > 0.05:
            break
        lowest = k + 1
    lowest = max(lowest - 1, 0)
    return values[lowest], values[n - 1 - lowest]


def of_samples(path):
    rates = {}
    with open(path, encoding="utf-8") as f:
        for row in csv.DictReader(f):
            if row["program"] == "dapl_rail" and row["bytes"] == SIZE:
                rates.setdefault(row["method"], {})[row["round"]] = float(
                    row["bandwidth_MBps"])
    one, auto = rates["single"], rates["auto"]
    ratios = [auto[r] / one[r] for r in one if r in auto]
    low, high = interval(ratios)
    return (f"{statistics.median(one.values()):.0f}",
            f"{statistics.median(ratios):.2f} [{low:.2f}, {high:.2f}]")


def of_hosts(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    one = re.search(r"^one rail:.*?^ +1M +(\d+)\.", text, re.M | re.S)
    ratio = re.search(r"two rails / one rail, 1M: ([\d.]+) \[([\d.]+), "
                      r"([\d.]+)\]", text)
    return one[1], "{:.2f} [{:.2f}, {:.2f}]".format(*map(float, ratio.groups()))


def main():
    show = sys.argv[1] == "--show"
    source = sys.argv[-1]
    with open(os.path.join(source, "README.md"), encoding="utf-8") as f:
        table = f.read().partition("## Does a second rail pay?")[2]
    wrong = rows = 0
    for row in re.findall(r"^\| \[.*\|$", table, re.M):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        folder = os.path.join(source, re.search(r"\((results/[^)]*)\)",
                                                cells[0])[1])
        for name, figures in (("p2p-samples.csv", of_samples),
                              ("hosts.txt", of_hosts)):
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                continue
            rows += 1
            wanted = figures(path)
            if show or wanted != tuple(cells[1:3]):
                print(f"{path}: {' | '.join(wanted)}")
                wrong += not show
    sys.exit(bool(wrong) or rows < 4)


if __name__ == "__main__":
    main()
