# SPDX-License-Identifier: BSD-3-Clause
"""Pictures over message size: bandwidth, latency, their parts and limits."""

from railtools.options import size_name
from railtools.plot.configurations import (
    COLLECTIVES,
    IRREGULAR,
    bar_name,
    limits,
    machine_line,
    rows_of,
    series,
    setup_name,
    shown,
    title,
)
from railtools.plot.gnuplot import (
    BLUE,
    GRAY,
    MOST,
    ORANGE,
    below,
    curves,
    stacked,
)
from railtools.results import P2P_SCHEMA

# Curves over message size: which loop and figure of a result, and how.
CURVES = {
    "bw": [("bw", "batch", "bandwidth_MBps", "Uni-directional bandwidth",
            "Bandwidth (GB/s)")],
    "bibw": [("bibw", "batch", "bandwidth_MBps", "Bi-directional bandwidth",
              "Bandwidth (GB/s)")],
    "lat": [("lat", "batch", "latency_us", "RDMA write latency",
             "Latency (µs)"),
            ("lat-pingpong", "pingpong", "latency_us",
             "Ping-pong latency (half of a round trip)", "Latency (µs)")],
    "get": [("get", "batch", "bandwidth_MBps", "Bandwidth of RDMA reads",
             "Bandwidth (GB/s)"),
            ("get-latency", "pingpong", "latency_us", "Time of one RDMA read",
             "Latency (µs)")],
    "send": [("send", "batch", "bandwidth_MBps",
              "Bandwidth of two-sided messages", "Bandwidth (GB/s)"),
             ("send-pingpong", "pingpong", "latency_us",
              "Ping-pong latency (half of a round trip) of two-sided messages",
              "Latency (µs)")],
    "p2p": [("p2p-lat", "pingpong", "latency_us",
             "Ping-pong latency (half of a round trip)", "Latency (µs)"),
            ("p2p-bw", "batch", "bandwidth_MBps", "Uni-directional bandwidth",
             "Bandwidth (GB/s)")],
}
CURVES |= {name: [(name, "collective", "latency_us", text, "Time (µs)")]
           for name, text in COLLECTIVES.items() if name != IRREGULAR}


def curve_pictures(result):
    """(ending of the name, program) of each picture of curves."""
    for name, loop, figure, what, axis in CURVES[result["test"]]:
        lines = series(result, loop, figure)
        if not lines:
            continue
        ratio = speedup_of(result, loop, figure)
        for number, text in curves(
                title(result, what), axis, lines, log=True,
                bounds=list(limits(result, loop, figure)),
                less=figure == "latency_us"):
            yield (name[len(result["test"]):] + number,
                   below(text, ratio) if ratio and not number else text)
        best = envelopes(result, lines, figure)
        if best:
            for _, text in curves(
                    title(result, f"{what}: dapl_rail and the best of others"),
                    axis, best, log=True, less=figure == "latency_us"):
                yield name[len(result["test"]):] + "-best", text


def envelopes(result, lines, figure):
    """Our curves, and for each size the best put and the best send of others;
    of point to point beside others, else nothing."""
    ours = [line for line in lines if line[0].startswith("dapl_rail")]
    if result["test"] != "p2p" or len(ours) == len(lines):
        return []
    better = min if figure == "latency_us" else max
    found = []
    for side, is_put in (("best put of others", True),
                         ("best send of others", False)):
        best: dict = {}
        for label, points in lines:
            if (label, points) in ours or label.endswith(" put") != is_put:
                continue
            for point in points:
                best[point[0]] = better(best.get(point[0], point), point,
                                        key=lambda point: point[1])
        if best:
            found.append((side, [best[size] for size in sorted(best)]))
    return ours + found


def breakdown_pictures(result):
    """Stacked bars, a picture for each message size (figs. 11 and 12)."""
    parts = [("post_us", "posting RDMA writes", BLUE),
             ("wait_us", "waiting for events", ORANGE),
             ("other_us", "other", GRAY)]
    setups = {setup["index"]: setup for setup in result["configurations"]}
    batch = result["options"]["batch"]
    for size in sorted({row["bytes"] for row in result["results"]}):
        rows = [[bar_name(setups[row["configuration"]])] +
                [row["batch"][part]["median"] for part, _, _ in parts]
                for row in result["results"] if row["bytes"] == size]
        yield f"-{size_name(size)}", stacked(
            title(result, f"Elapsed time of {batch} messages of "
                  f"{size_name(size)} bytes"),
            "Time (µs), medians", parts, rows)


def limits_pictures(result):
    """Copy rates of one and of all threads, a picture for buffers in caches and
    one for others; cache lines in the title."""
    most = max(row["threads"] for row in result["copies"])
    lines: dict = {}
    for row in sorted(result["copies"], key=lambda row: (
            row["threads"], row["copy"], row["bytes"])):
        if row["threads"] in (1, most):
            threads = f"{row['threads']} thread{'s' * (row['threads'] > 1)}"
            rate = row["bandwidth_MBps"]
            lines.setdefault(row["buffers"], {}).setdefault(
                f"{threads}, {row['copy']}", []).append(
                    (row["bytes"], *(shown("bandwidth_MBps", rate[key])
                                     for key in ("median", "lo", "hi"))))
    ending = ", ".join(machine_line(result))
    two = [row["latency_ns"]["median"] for row in result["cache_lines"]
           if row["lines"] == 2]
    if two:
        ending += (f"\n2 cache lines from core to core: {min(two):.0f} ns one "
                   "way between the nearest")
    for buffers, those in sorted(lines.items()):
        heading = f"Memory copy, buffers {buffers}" + (
            " (partial result)" if result["partial"] else "")
        for number, text in curves(f"{heading}\n{ending}", "Copy rate (GB/s)",
                                   list(those.items()), log=True, less=False):
            yield ("" if buffers == "cached" else f"-{buffers}") + number, text


def speedups(result, loop, figure):
    """(lines, {size: 1}): how many times as fast as the best single rail at the
    same size; (), if there is none."""
    whole = result.get("whole", result)  # has it, whatever is drawn
    rows = {setup["index"]: {
        row["bytes"]: row[loop][figure] for row in rows_of(whole, setup)
        if row.get(loop) and row[loop][figure]["median"]}
        for setup in whole["configurations"]}
    single = [setup for setup in whole["configurations"]
              if setup["engine"] == "single"]
    best: dict = {}
    for setup in single:
        for size, cell in rows[setup["index"]].items():
            best.setdefault(size, []).append(cell["median"])
    best = {size: (max if figure == "bandwidth_MBps" else min)(medians)
            for size, medians in best.items()}
    sign = 1 if figure == "bandwidth_MBps" else -1
    lines = [(setup_name(setup), [
        (size, (cell["median"] / best[size]) ** sign, *sorted(
            (cell[end] / best[size]) ** sign for end in ("lo", "hi")))
        for size, cell in rows[setup["index"]].items() if size in best])
        for setup in result["configurations"] if setup not in single
        and not ("dapl_rail" not in setup["label"]
                 and result.get("schema") == P2P_SCHEMA)]
    return ([line for line in lines if line[1]],
            [("the best single rail", [(size, 1, 1, 1)
                                       for size in sorted(best)], [])])


def speedup_of(result, loop, figure):
    """The lower panel of a picture: the same curves over the best single rail;
    none where they are not all in one picture."""
    lines, one = speedups(result, loop, figure)
    labels = [line[0] for line in series(result, loop, figure)]
    if not lines or len(labels) > MOST or \
            not {line[0] for line in lines} <= set(labels):
        return None
    (_, text), = curves("", "Times the best single rail", lines, bounds=one,
                        interval="", less=False,
                        places=[labels.index(line[0]) for line in lines])
    return text


def speedup_pictures(result):
    """How many times as fast as the best single rail at the same size."""
    for name, loop, figure, what, _ in CURVES.get(result["test"], ()):
        lines, one = speedups(result, loop, figure)
        if not lines:
            continue
        for number, text in curves(
                title(result, f"{what}: speed-up over the best single rail"),
                "Times as fast", lines, bounds=one, less=False,
                interval=", medians; interval of the numerator"):
            yield f"{name[len(result['test']):]}-speedup{number}", text
