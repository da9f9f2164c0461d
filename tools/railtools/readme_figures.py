# SPDX-License-Identifier: BSD-3-Clause
"""The figures of README.md's table "Does a second rail pay?", from recorded
results; and whether the README has them.

Prints a line for each row of the table. Exit status 1: the README says
something else, which is named."""
import csv
import os
import re

from railtools.options import Parser
from railtools.paths import ROOT
from railtools.rounds import median_interval, paired

SIZE = "1048576"
# Rows of the table: the folder that the row links, or what is measured there.
SAME_HOST = ("p2p/same-buffer", "p2p/off-cache", "p2p/read")
HOSTS = "hosts/p2p"


def rows_of(folder, name):
    path = os.path.join(ROOT, "results", folder, name)
    with open(path, newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["bytes"] == SIZE]


def by_round(rows, column, **wanted):
    return {int(row["round"]): float(row[column]) for row in rows
            if all(row[key] == value for key, value in wanted.items())}


def gain_text(two, one):
    (middle, low, high), _ = paired(two, one)
    return f"{middle:.2f} [{low:.2f}, {high:.2f}]"


def same_host(folder):
    """The table's row of two rails over shared memory."""
    rows = rows_of(folder, "p2p-samples.csv")
    one, two = (by_round(rows, "bandwidth_MBps", test="bw",
                         program="dapl_rail", method=method)
                for method in ("single", "auto"))
    best, = (row for row in rows_of(folder, "p2p.csv")
             if row["program"] == "dapl_rail" and row["method"] == "auto")
    return [f"{median_interval(one.values())[0]:.0f}", gain_text(two, one),
            f"put {float(best['ratio_to_best_put']):.2f}",
            f"send {float(best['ratio_to_best_send']):.2f}"]


def hosts(wires):
    """The table's row of two wires."""
    rows = rows_of(HOSTS, "hosts-samples.csv")
    one, two = (by_round(rows, "figure", what=what, program="dapl_rail")
                for what in ("one", wires))
    gain = gain_text(two, one)
    return [f"{median_interval(one.values())[0]:.0f}",
            gain if wires == "two" else gain.split(" ", maxsplit=1)[0]]


def table():
    """{pattern of a row: figures that it must have}."""
    found = {re.escape(f"(results/{folder})"): same_host(folder)
             for folder in SAME_HOST}
    found[re.escape(f"(results/{HOSTS})")] = hosts("two")
    found["half the rate"] = hosts("unequal")
    return found


def main():
    parser = Parser(prog="tools/railtools/readme_figures.py",
                    description=__doc__)
    parser.add_argument("readme", nargs="?",
                        default=os.path.join(ROOT, "README.md"))
    args = parser.parse_args()
    with open(args.readme, encoding="utf-8") as file:
        lines = [line for line in file if line.startswith("|")]
    wrong = 0
    for pattern, figures in table().items():
        print(" | ".join(figures))
        row = next((line for line in lines if re.search(pattern, line)), "")
        for figure in figures:
            if not re.search(rf"(?<![\d.]){re.escape(figure)}(?![\d])", row):
                print(f"{args.readme}: no '{figure}' in: "
                      f"{row.strip() or 'no such row'}")
                wrong += 1
    return wrong > 0
