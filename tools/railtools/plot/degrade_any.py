# SPDX-License-Identifier: BSD-3-Clause
"""How long a stream stood still, of each library and kind of fault."""

from railtools.plot.gnuplot import COLOURS, GRAY, GRID, data, frame, quoted

# of how a run came out, in the words of the result
MARKS = {"goes on": 7, "waits": 6, "ends": 2, "hangs": 3}
LEAST_MS = 5


def place(index, count, spread):
    """Beside each other within a kind, whose width is 1."""
    return (index + 0.5) / count * spread - spread / 2


def points_of(result):
    """{(configuration, outcome): [(x, ms)]}; what has no end is at the top."""
    options, setups = result["options"], result["configurations"]
    stalls = [row["stall_ms"] for row in result["results"]
              if row["stall_ms"] is not None]
    top = 2 * max([1000 * options["outage_s"], *stalls])
    found: dict = {}
    for row in result["results"]:
        x = (options["kinds"].index(row["kind"])
             + place(row["configuration"], len(setups), 0.8)
             + place(row["fault"], options["faults"], 0.6 / len(setups)))
        stall = row["stall_ms"]
        found.setdefault((row["configuration"], row["outcome"]), []).append(
            (x, top if stall is None else max(stall, LEAST_MS)))
    return found, top


def degrade_any_pictures(result):
    options = result["options"]
    found, top = points_of(result)
    if not found:
        return
    kinds, outage = options["kinds"], 1000 * options["outage_s"]
    heading = (f"A rail fails for {options['outage_s']:g} s: the longest time "
               "without a message, of each run\n"
               f"two emulated rails of {options['rate_mbit']} Mbit/s, TCP; seed "
               f"{options['seed']}, faults of each kind: {options['faults']}"
               + (", not complete" if result["partial"] else "")
               + "\nfilled: goes on; open: waits; cross: ends by an error; "
               "star: hangs")
    ticks = ", ".join(f"{quoted(kind)} {index}"
                      for index, kind in enumerate(kinds))
    text = frame(heading, "Stall (ms)") + [
        "set logscale y",
        f"set xrange [-0.5:{len(kinds) - 0.5}]",
        f"set yrange [{LEAST_MS}:{1.3 * top:.9g}]",
        f"set xtics ({ticks})", f"set grid ytics {GRID}",
        f"set arrow from graph 0, first {outage:.9g} to graph 1, first "
        f"{outage:.9g} nohead dashtype 2 linecolor rgb '{GRAY}'",
        f"set label 'the fault is over' at graph 0.99, first {outage:.9g} "
        f"right offset 0,0.6 textcolor rgb '{GRAY}'"]
    plots: list = []
    for (setup, outcome), points in sorted(found.items()):
        name = f"$points{len(plots)}"
        text += data(name, points)
        plots.append(f"{name} using 1:2 with points pointtype "
                     f"{MARKS[outcome]} linecolor rgb "
                     f"'{COLOURS[setup % len(COLOURS)]}' notitle")
    plots += [f"NaN with points pointtype 7 linecolor rgb "
              f"'{COLOURS[setup['index'] % len(COLOURS)]}' title "
              f"{quoted(setup['label'])}" for setup in result["configurations"]]
    yield "", text + ["plot " + ", ".join(plots)]
