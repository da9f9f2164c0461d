# SPDX-License-Identifier: BSD-3-Clause
"""The rate over time while rails fail."""

from railtools.options import size_name
from railtools.plot.configurations import setup_name, title
from railtools.plot.gnuplot import BLUE, GRAY, GRID, RED, data, frame, quoted


def degrade_pictures(result):
    """The rate over time, with a line for each event; a picture a run."""
    interval = result["options"]["interval_ms"] / 1e3
    setups = {setup["index"]: setup for setup in result["configurations"]}
    for run in result["results"]:
        setup = setups[run["configuration"]]
        rates = [(index * interval, rate / 1e3)
                 for index, rate in enumerate(run["bandwidth_MBps"])]
        if not rates:
            continue
        ended = f", ended: {run['ended']}" if run["ended"] else ""
        heading = title(result, f"Messages of {size_name(run['bytes'])} bytes "
                        f"while rails fail, {setup_name(setup)}")
        heading += (f"\n{run['messages']} messages, {run['retries']} retries, "
                    f"{run['lost']} lost, {run['doubled']} doubled, "
                    f"{run['wrong']} wrong{ended}")
        top = max(rate for _, rate in rates)
        text = frame(heading, f"Rate over {interval * 1e3:g} ms (GB/s)") + [
            "set xlabel 'Time (s)'",
            f"set xrange [0:{rates[-1][0] + interval:.9g}]",
            f"set yrange [0:{1.3 * top or 1:.9g}]",
            f"set grid ytics {GRID}"]
        for number, event in enumerate(run["events"]):
            at = event["time_ms"] / 1e3
            factor = f" {event['factor']:g}" if event["factor"] else ""
            text.append(f"set arrow from {at:.9g}, graph 0 to {at:.9g}, "
                        "graph 1 nohead dashtype 2 linecolor rgb "
                        f"'{RED}'")
            if len(run["events"]) <= 12:
                name = f"{event['event']} {event['rail']}{factor}"
                text.append(f"set label {quoted(name)} at {at:.9g}, graph "
                            f"{0.97 - 0.05 * (number % 3)} left offset 0.5,0 "
                            f"noenhanced textcolor rgb '{RED}'")
        text += data("$rates", rates)
        possible = []
        if None not in (run["all_MBps"], *(event["possible_MBps"]
                                           for event in run["events"])):
            possible = [(0, run["all_MBps"] / 1e3)] + [
                (event["time_ms"] / 1e3, event["possible_MBps"] / 1e3)
                for event in run["events"]]
            possible.append((rates[-1][0] + interval, possible[-1][1]))
            text += data("$possible", possible)
        lines = [f"$rates using 1:2 with steps linewidth 1.5 linecolor rgb "
                 f"'{BLUE}' title 'received'"]
        if possible:
            lines.append(f"$possible using 1:2 with steps dashtype 3 linecolor "
                         f"rgb '{GRAY}' title 'possible with these "
                         "rails'")
        text.append("plot " + ", ".join(lines))
        several = len(result["results"]) > 1
        yield (f"-{size_name(run['bytes'])}-{run['configuration']}"
               if several else ""), text
