# SPDX-License-Identifier: BSD-3-Clause
"""Sentences on a test's result."""
from railtools.options import size_name
from railtools.plot.sizes import CURVES, speedups

PAYS = 1.05  # times the best single rail, the whole interval: a second one pays
WEAK = 0.9  # of the fastest rail: another one is weak below


def second_rail(result, loop, figure):
    """From which size several rails are faster than one."""
    lines, _ = speedups(result, loop, figure)
    best: dict = {}  # {size: (median, lo, label)}
    for label, points in lines:
        for size, median, low, _ in points:
            best[size] = max(best.get(size, (0.0, 0.0, "")),
                             (median, low, label))
    if not best:
        return None
    pays = [size for size, (_, low, _) in sorted(best.items()) if low >= PAYS]
    size = max(best, key=lambda size: best[size][0])
    peak = (f"{best[size][0]:.2f} times the best single rail at "
            f"{size_name(size)} ({best[size][2]})")
    if not pays:
        return (f"A second rail is not shown to pay at any size: {peak}, but its "
                "interval reaches down to "
                f"{best[size][1]:.2f}." if best[size][0] >= PAYS else
                f"A second rail does not pay at any size: at most {peak}.")
    if all(size in pays for size in best if size >= pays[0]):
        return f"A second rail pays from {size_name(pays[0])} on: {peak}."
    return ("A second rail pays at " + ", ".join(map(size_name, pays))
            + f": {peak}.")


def weak_rail(result, loop, figure):
    """Which rail alone is slower than another, at the largest size."""
    single = {setup["index"]: setup["rails"]
              for setup in result["configurations"]
              if setup["engine"] == "single"}
    rows = [row for row in result["results"]
            if row["configuration"] in single and row.get(loop)]
    size = max((row["bytes"] for row in rows), default=0)
    rates = {single[row["configuration"]]: row[loop][figure]["median"]
             for row in rows if row["bytes"] == size}
    if len(rates) < 2 or not all(rates.values()):
        return None
    fast = max(rates, key=lambda rail: rates[rail])
    slow = min(rates, key=lambda rail: rates[rail])
    part = rates[slow] / rates[fast]
    return (f"Rail {slow} is weak: {part:.2f} of {fast} at {size_name(size)}."
            if part < WEAK else None)


def chosen(result):
    """Which algorithm is taken up to which size."""
    parts: list = []  # [algorithm, first size, last size]
    for row in sorted(result["results"], key=lambda row: row["bytes"]):
        name = row.get("chosen")
        if not name or (parts and row["bytes"] == parts[-1][2]):
            continue
        if parts and parts[-1][0] == name:
            parts[-1][2] = row["bytes"]
        else:
            parts.append([name, row["bytes"], row["bytes"]])
    if not parts:
        return None
    return "Chosen: " + ", ".join(
        f"{name} for {size_name(first)}"
        + (f" to {size_name(last)}" if last > first else "")
        for name, first, last in parts) + "."


def copies(result):
    """The fastest copy within caches and beyond."""
    best: dict = {}
    for row in result["copies"]:
        rate = row["bandwidth_MBps"]["median"]
        if rate:
            best[row["buffers"]] = max(best.get(row["buffers"], 0), rate)
    return "Fastest copy: " + ", ".join(
        f"{rate / 1e3:.1f} GB/s {buffers}"
        for buffers, rate in sorted(best.items())) + "." if best else None


def verdicts(result):
    """The sentences of one result."""
    found = []
    if result["test"] == "limits":
        found.append(copies(result))
    elif result["test"] in CURVES and "configurations" in result:
        for _, loop, figure, what, _ in CURVES[result["test"]]:
            if loop == "collective":
                found.append(chosen(result))
                continue
            several = second_rail(result, loop, figure)
            found.append(several and f"{what}: {several[0].lower()}"
                         f"{several[1:]}")
            if figure == "bandwidth_MBps":
                found.append(weak_rail(result, loop, figure))
    return [sentence for sentence in found if sentence]
