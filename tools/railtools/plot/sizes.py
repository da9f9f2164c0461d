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
    title,
)
from railtools.plot.gnuplot import BLUE, GRAY, ORANGE, curves, stacked
from railtools.results import P2P_SCHEMA

# Curves over message size: which loop and figure of a result, and how.
CURVES = {
    "bw": [("bw", "batch", "bandwidth_MBps", "Uni-directional bandwidth",
            "Bandwidth (MB/s)")],
    "bibw": [("bibw", "batch", "bandwidth_MBps", "Bi-directional bandwidth",
              "Bandwidth (MB/s)")],
    "lat": [("lat", "batch", "latency_us", "RDMA write latency",
             "Latency (µs)"),
            ("lat-pingpong", "pingpong", "latency_us",
             "Ping-pong latency (half of a round trip)", "Latency (µs)")],
    "get": [("get", "batch", "bandwidth_MBps", "Bandwidth of RDMA reads",
             "Bandwidth (MB/s)"),
            ("get-latency", "pingpong", "latency_us", "Time of one RDMA read",
             "Latency (µs)")],
    "send": [("send", "batch", "bandwidth_MBps",
              "Bandwidth of two-sided messages", "Bandwidth (MB/s)"),
             ("send-pingpong", "pingpong", "latency_us",
              "Ping-pong latency (half of a round trip) of two-sided messages",
              "Latency (µs)")],
    "p2p": [("p2p-lat", "pingpong", "latency_us",
             "Ping-pong latency (half of a round trip)", "Latency (µs)"),
            ("p2p-bw", "batch", "bandwidth_MBps", "Uni-directional bandwidth",
             "Bandwidth (MB/s)")],
}
CURVES |= {name: [(name, "collective", "latency_us", text, "Time (µs)")]
           for name, text in COLLECTIVES.items() if name != IRREGULAR}


def curve_pictures(result):
    """(ending of the name, program) of each picture of curves."""
    for name, loop, figure, what, axis in CURVES[result["test"]]:
        lines = series(result, loop, figure)
        if not lines:
            continue
        for number, text in curves(
                title(result, what), axis, lines, log=True,
                bounds=list(limits(result, loop, figure))):
            yield name[len(result["test"]):] + number, text


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
    """Copy rates of one and of all threads; cache lines in the title."""
    most = max(row["threads"] for row in result["copies"])
    kinds = sorted({(row["threads"], row["buffers"], row["copy"])
                    for row in result["copies"] if row["threads"] in (1, most)})
    lines = []
    for threads, buffers, copy in kinds:
        points = sorted(
            (row["bytes"], *(row["bandwidth_MBps"][key]
                             for key in ("median", "lo", "hi")))
            for row in result["copies"]
            if (row["threads"], row["buffers"], row["copy"]) ==
            (threads, buffers, copy))
        lines.append((f"{threads} thread{'s' if threads > 1 else ''}, "
                      f"{buffers}, {copy}", points))
    heading = "Memory copy" + (" (partial result)" if result["partial"] else "")
    heading += "\n" + ", ".join(machine_line(result))
    two = [row["latency_ns"]["median"] for row in result["cache_lines"]
           if row["lines"] == 2]
    if two:
        heading += (f"\n2 cache lines from core to core: {min(two):.0f} ns one "
                    "way between the nearest")
    yield from curves(heading, "Copy rate (MB/s)", lines, log=True)


def speedup_pictures(result):
    """How many times as fast as the best single rail at the same size."""
    whole = result.get("whole", result)  # has it, whatever is drawn
    for name, loop, figure, what, _ in CURVES.get(result["test"], ()):
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
        lines = [line for line in lines if line[1]]
        if not lines:
            continue
        one: list = [("the best single rail", [(size, 1, 1, 1)
                                         for size in sorted(best)], [])]
        for number, text in curves(
                title(result, f"{what}: speed-up over the best single rail"),
                "Times as fast", lines, bounds=one,
                interval=", medians; interval of the numerator"):
            yield f"{name[len(result['test']):]}-speedup{number}", text
