# SPDX-License-Identifier: BSD-3-Clause
"""The curves of a result: their names, points and limits; its title."""

from railtools.results import P2P_SCHEMA

# Collectives over block size, one curve for each algorithm or program, as in
# figs. 9 to 11 of Qian and Afsahi 2008 and fig. 5 of Qian et al. 2008.
COLLECTIVES = {"gather": "Gather", "allgather": "All-gather",
               "alltoall": "All-to-all", "bcast": "Broadcast",
               "scatter": "Scatter", "reduce": "Reduce",
               "allreduce": "All-reduce",
               "reduce_scatter_block": "Reduce-scatter", "scan": "Scan",
               "exscan": "Exclusive scan"}
IRREGULAR = "alltoallv"
COLLECTIVES[IRREGULAR] = "Irregular all-to-all"


def setup_name(setup):
    label, slash, variant = setup["label"].partition("/")
    if label == "single":
        return f"single rail{slash}{variant} ({setup['rails']})"
    return setup["label"].replace("nonthreaded", "non-threaded")


def bar_name(setup):
    """Short, as bars stand close."""
    return (f"{setup['label']} {setup['rails']}"
            if setup["engine"] == "single"
            else setup_name(setup))


# The names of limits.
LIMITS = {"copy": "copy limit", "link": "link rate",
          "cache line": "transfer of a cache line",
          "cache lines": "transfer of 2 cache lines"}  # until November 2026


def limit_of(row, loop, figure):
    """(kind, (median, lo, hi)) of the limit of a row, or None. It may have no
    interval (until November 2026), or only a percentage be known."""
    limit = row.get("limit") or {}
    # the limit of a latency is that of the ping-pong
    if figure == "latency_us" and loop != "pingpong":
        return None
    value = limit.get(figure)
    if value is None and row.get("limit_pct"):
        reached = row[loop][figure]["median"]
        value = (100 * reached / row["limit_pct"]
                 if figure == "bandwidth_MBps"
                 else reached * row["limit_pct"] / 100)
    if value is None:
        return None
    if isinstance(value, dict):
        value, low, high = (value[key] for key in ("median", "lo", "hi"))
    else:
        low, high = (limit.get(figure + end, limit.get(end[1:]))
                     for end in ("_lo", "_hi"))
    return (LIMITS.get(str(limit.get("kind")), "limit"),
            (value, value if low is None else low,
             value if high is None else high))


def rows_of(result, setup):
    """The rows of a configuration; 0 bytes have no place on an axis."""
    return sorted((row for row in result["results"]
                   if row["configuration"] == setup["index"]
                   and row["bytes"] > 0), key=lambda row: row["bytes"])


def limits(result, loop, figure):
    """(kind, points, labels of its curves) of each limit; once, if several
    curves have the same."""
    found: dict = {}
    for setup in result["configurations"]:
        points, kinds = [], set()
        for row in rows_of(result, setup):
            limit = limit_of(row, loop, figure)
            if limit:
                kinds.add(limit[0])
                points.append((row["bytes"], *(
                    shown(figure, value) for value in limit[1])))
        if points:
            found.setdefault((" or ".join(sorted(kinds)), tuple(points)),
                             []).append(setup_name(setup))
    for (kind, points), names in found.items():
        yield kind, points, names


def polls(result, setup):
    """Does it poll without yielding where ranks share cores?"""
    # results do not tell before November 2026, when MPICH was such a peer
    return (setup.get("polls", setup["label"].startswith("MPICH")) and
            result["options"]["ranks"] > result["machine"]["allowed_threads"])


def shown(figure, value):
    """As pictures have it: GB/s and µs."""
    return value / 1e3 if figure == "bandwidth_MBps" else value


def series(result, loop, figure):
    """[label, [(bytes, median, lo, hi)]] of every configuration."""
    lines = []
    for setup in result["configurations"]:
        points = [(row["bytes"], *(shown(figure, row[loop][figure][key])
                                   for key in ("median", "lo", "hi")))
                  for row in rows_of(result, setup)
                  if row[loop][figure]["median"] is not None]
        if points:
            lines.append((setup_name(setup) + (
                " (polls, cores are shared)" if polls(result, setup)
                else ""), points))
    return lines


def machine_line(result):
    machine = result["machine"]
    return [machine["host"], machine["cpu"],
            f"{result['date'][:10]} (revision {result['revision']})"]


def ranks_text(options):
    nodes = -(-options["ranks"] // options["ppn"])
    return (f", {options['ranks']} ranks" if nodes == 1 else
            f", {options['ranks']} ranks on {nodes} nodes")


def title(result, what):
    fabrics = sorted({rail["fabric"] for rail in result["rails"]})
    rails = len(result["rails"])
    machine = result["machine"]
    second = machine_line(result)
    beside = result.get("schema") == P2P_SCHEMA
    second.insert(2, ("dapl_rail over " if beside else "")
                  + f"{rails} rail{'s' if rails > 1 else ''}: "
                  f"{', '.join(fabrics)}"
                  + (", others over their own" if beside else ""))
    threads = result["options"]["ranks"] * max(
        setup["rails"].count("+") + 1 if setup["engine"] == "threaded" else 1
        for setup in result["configurations"])
    if threads > machine["allowed_threads"]:
        second.append(("up to " if beside else "") + f"{threads} threads on "
                      f"{machine['allowed_threads']} cores")
    if result["test"] in COLLECTIVES:
        what += ranks_text(result["options"])
    if result.get("series"):
        what += f" ({result['series']})"
    if any("model" in fabric for fabric in fabrics):
        what += " (modelled)"
    if result["partial"]:
        what += " (partial result)"
    if result.get("left_out"):
        what += f" ({result['left_out']} curves left out)"
    return what + "\n" + ", ".join(second)
