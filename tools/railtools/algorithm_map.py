# SPDX-License-Identifier: BSD-3-Clause
"""Maps of the fastest algorithm by size of block and number of nodes, on
simulated clusters.

Each algorithm of each collective is simulated at each number of nodes, a run for
each size. A run that takes longer than --limit is ended, and noted; the
algorithm is then not tried with that size or longer ones there, nor with more
nodes. What is noted in FOLDER/times.csv is not simulated again, so an
interrupted map goes on where it was. In the end, or at once with --draw, the
script writes FOLDER/map.txt and FOLDER/map.svg.
"""
import argparse
import collections
import csv
import itertools
import os

from railtools.files import replace
from railtools.options import Parser, chosen_of, parse_size, progress, size_name, whole
from railtools.paths import RAILBENCH
from railtools.programs import Failure, run

PLATFORMS = ["ndr400-2rail", "ndr400-2rail-leaf32"]
COLLECTIVES = ["gather", "allgather", "alltoall", "bcast", "scatter", "barrier",
               "reduce", "allreduce", "reduce_scatter_block", "scan", "exscan"]
REDUCTIONS = COLLECTIVES[COLLECTIVES.index("reduce"):]
NODES = [2, 4, 8, 16, 32, 64, 128, 256]
SIZES = "4,1K,32K,1M,16M"
COLUMNS = ["platform", "collective", "nodes", "ppn", "algorithm", "bytes",
           "latency_us", "state"]
DONE, ENDED, REFUSED = "simulated", "limit", "refused"

# ---------------------------------------------------------------- simulation


def names_of(args, collective):
    """The algorithms that serve two nodes."""
    out = run([args.railbench, "prove", "--collective", collective, "--nodes",
               f"{args.ppn},{args.ppn}", "--sizes", "8", "--draws", "0",
               "--format", "csv"])
    return [row["algorithm"] for row in csv.DictReader(out.splitlines())
            if row["verdict"] == "correct"]


def simulate(args, platform, collective, nodes, name, size):
    """The row of a run."""
    row = {"platform": platform, "collective": collective, "nodes": nodes,
           "ppn": args.ppn, "algorithm": name, "bytes": size}
    command = [args.railbench, collective, "--rails", f"sim:{platform}",
               "--ranks", str(nodes * args.ppn), "--ppn", str(args.ppn),
               "--algorithm", name, "--iterations", "1", "--warmup", "1",
               "--repeat", "1", "--format", "csv"]
    if collective != "barrier":
        command += ["--sizes", str(size), "--no-payload"]
    if collective in REDUCTIONS:
        command += ["--type", "float"]
    try:
        out = run(command, args.limit)
    except Failure as failure:
        if "no end within" in str(failure):
            state = ENDED
        elif "--algorithm" in str(failure):
            state = REFUSED
        else:
            raise
        return dict(row, latency_us="", state=state)
    got = next(csv.DictReader(out.splitlines()))
    return dict(row, latency_us=got["latency_us"], state=DONE)


def read_times(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="ascii") as file:
        return list(csv.DictReader(file))


def key_of(row):
    return (row["platform"], row["collective"], int(row["nodes"]),
            row["algorithm"], int(row["bytes"]))


def takes_too_long(ended, key):
    """Was it ended there, or with fewer nodes, at that size or a shorter one?"""
    return any((*e[:2], e[3]) == (*key[:2], key[3]) and e[2] <= key[2] and
               e[4] <= key[4] for e in ended)


def simulate_all(args, path):
    rows = read_times(path)
    if any(int(row["ppn"]) != args.ppn for row in rows):
        raise Failure(f"{path}: not of --ppn {args.ppn}")
    known = set(map(key_of, rows))
    ended = {key_of(row) for row in rows if row["state"] == ENDED}
    sizes_of = {c: [0] if c == "barrier" else args.sizes
                for c in args.collective}
    with open(path, "a", encoding="ascii") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        if not rows:
            table.writeheader()
        names = {c: names_of(args, c) for c in args.collective}
        for nodes, platform, collective in itertools.product(
                args.nodes, args.platform, args.collective):
            for name, size in itertools.product(names[collective],
                                                sizes_of[collective]):
                key = (platform, collective, nodes, name, size)
                if key in known or takes_too_long(ended, key):
                    continue
                progress(" ".join(map(str, key)))
                got = simulate(args, *key)
                if got["state"] == ENDED:
                    ended.add(key)
                table.writerow(got)
                file.flush()
    progress("")


# -------------------------------------------------------------------- tables

def kind_of(name):
    """The locality algorithms by their idea."""
    if name in ("smp-bruck-all", "pat"):
        return name
    return "node" if name.startswith(("smp-", "mc-")) else "flat"


def points(rows):
    """{(platform, collective, nodes, bytes): {algorithm: us}}, and the number
    of algorithms that are left out of each."""
    times: dict = collections.defaultdict(dict)
    tried: dict = collections.defaultdict(set)
    for r in rows:
        where = (r["platform"], r["collective"], int(r["nodes"]))
        if r["state"] != REFUSED:
            tried[where[:2]].add(r["algorithm"])
        if r["state"] == DONE:
            times[(*where, int(r["bytes"]))][r["algorithm"]] = \
                float(r["latency_us"])
    left = {key: len(tried[key[:2]]) - len(of) for key, of in times.items()}
    return times, left


def best_of(times):
    """(name, us) of the fastest; the first of equal ones by name."""
    return min(sorted(times.items()), key=lambda item: item[1])


def gain_of(times, kind):
    """The time of the fastest of all other kinds over that of this one; None:
    one of them is missing."""
    mine = [us for name, us in times.items() if kind_of(name) == kind]
    others = [us for name, us in times.items() if kind_of(name) != kind]
    return min(others) / min(mine) if mine and others and min(mine) else None


def table_of(title, times, keys, cell, left=None):
    """Lines: a row for each number of nodes, a column for each size."""
    sizes = sorted({key[3] for key in keys})
    yield title
    yield "nodes  " + "".join(f"{size_name(size) if size else '-':<24}"
                              for size in sizes).rstrip()
    for nodes in sorted({key[2] for key in keys}):
        cells = [cell(times.get((*keys[0][:2], nodes, size), {}))
                 for size in sizes]
        lacks = left and max(left.get((*keys[0][:2], nodes, size), 0)
                             for size in sizes)
        yield (f"{nodes:5}  " + "".join(f"{text:<24}" for text in cells) +
               (f"up to {lacks} left out" if lacks else "")).rstrip()
    yield ""


def fastest(times):
    if not times:
        return "-"
    name, us = best_of(times)
    others = [t for other, t in times.items() if other != name]
    return f"{name} {min(others) / us:.2f}" if others and us else name


def text_of(times, left, ppn):
    lines = [f"Simulated: the fastest algorithm by block size, {ppn} ranks a "
             "node; behind it, how many times as long the second takes.",
             "left out: algorithms that were not simulated there, or not within "
             "the time.", ""]
    for group in groups_of(times):
        lines += table_of(f"{group[0][1]}, {group[0][0]}", times, group,
                          fastest, left)
    lines += ["Simulated: times of the fastest other algorithm over that of "
              "this kind (above 1: it is faster).",
              "node: the fastest of smp-* and mc-*, but smp-bruck-all", ""]
    for kind in ("smp-bruck-all", "pat", "node"):
        for group in groups_of(times):
            if not any(gain_of(times[key], kind) for key in group):
                continue
            lines += table_of(f"{kind}: {group[0][1]}, {group[0][0]}", times,
                              group, lambda t, kind=kind: "-" if not t or
                              gain_of(t, kind) is None
                              else f"{gain_of(t, kind):.2f}")
    return "\n".join(lines)


def groups_of(times):
    """The keys of each platform and collective."""
    found = collections.defaultdict(list)
    for key in sorted(times):
        found[key[:2]].append(key)
    order = sorted(found, key=lambda g: (COLLECTIVES.index(g[1]),
                                         g[0]))
    return [found[group] for group in order]


# ------------------------------------------------------------------- picture

FILLS = {"flat": "#b9d6ea", "node": "#f6d9a8", "smp-bruck-all": "#f0a36c",
         "pat": "#a9dcc3"}
WORDS = {"flat": "knows no nodes", "node": "smp-*, mc-*: knows nodes",
         "smp-bruck-all": "smp-bruck-all", "pat": "pat"}
WIDTH, HEIGHT, LEFT, TOP = 104, 18, 60, 46


def panel(times, left, group, x, y):
    """SVG of one platform and collective, and its height."""
    sizes = sorted({key[3] for key in group})
    nodes = sorted({key[2] for key in group})
    yield (f'<text x="{x}" y="{y - 18}" font-weight="bold">'
           f"{group[0][1]}, {group[0][0]}</text>")
    for column, size in enumerate(sizes):
        yield (f'<text x="{x + column * WIDTH + 4}" y="{y - 4}">'
               f'{size_name(size) if size else ""}</text>')
    for row, count in enumerate(nodes):
        top = y + row * HEIGHT
        yield (f'<text x="{x - 6}" y="{top + 13}" text-anchor="end">'
               f"{count}</text>")
        for column, size in enumerate(sizes):
            of = times.get((*group[0][:2], count, size))
            if not of:
                continue
            name = best_of(of)[0]
            yield (f'<rect x="{x + column * WIDTH}" y="{top}" width="{WIDTH}" '
                   f'height="{HEIGHT}" fill="{FILLS[kind_of(name)]}" '
                   'stroke="#fff"/>')
            yield (f'<text x="{x + column * WIDTH + 4}" y="{top + 13}">'
                   f"{name}{' *' if left[(*group[0][:2], count, size)] else ''}"
                   "</text>")


def picture_of(times, left, ppn):
    groups = groups_of(times)
    platforms = sorted({group[0][0] for group in groups})
    wide = max(len({key[3] for key in group}) for group in groups) * WIDTH + \
        LEFT + 20
    rows = max(len({key[2] for key in group}) for group in groups) * HEIGHT + TOP
    collectives = [c for c in COLLECTIVES
                   if any(group[0][1] == c for group in groups)]
    height = 50 + rows * len(collectives)
    width = wide * len(platforms)
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="11">',
             f'<rect width="{width}" height="{height}" fill="#fff"/>',
             '<text x="10" y="18" font-size="14">Simulated: the fastest '
             f"algorithm by nodes (down, {ppn} ranks each) and block size; "
             "*: some algorithms are left out</text>"]
    for i, (kind, fill) in enumerate(FILLS.items()):
        x = 10 + 190 * i
        lines += [f'<rect x="{x}" y="26" width="12" height="12" '
                  f'fill="{fill}"/>',
                  f'<text x="{x + 18}" y="36">{WORDS[kind]}</text>']
    for group in groups:
        x = LEFT + platforms.index(group[0][0]) * wide
        y = 50 + TOP + collectives.index(group[0][1]) * rows
        lines += panel(times, left, group, x, y)
    return "\n".join(lines + ["</svg>", ""])


def draw(args, path):
    rows = read_times(path)
    times, left = points(rows)
    if not times:
        raise Failure(f"{path}: nothing is simulated")
    ppn = rows[0]["ppn"]
    replace(os.path.join(args.folder, "map.txt"), text_of(times, left, ppn))
    replace(os.path.join(args.folder, "map.svg"), picture_of(times, left, ppn))


# ------------------------------------------------------------------- options

def numbers(text):
    found = [int(word) if word.isdigit() else 0 for word in text.split(",")]
    if not all(1 < number <= 4096 for number in found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of numbers from 2 to 4096")
    return sorted(set(found))


def sizes(text):
    found = [parse_size(word) for word in text.split(",")]
    if not all(found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of sizes, as 4,1K,1M")
    return sorted(set(found))


def options():
    parser = Parser(description=__doc__)
    parser.add_argument("folder", metavar="FOLDER", help="of the results")
    parser.add_argument("--platform", metavar="P,...", default=PLATFORMS,
                        type=lambda text: text.split(","),
                        help=f"(default {','.join(PLATFORMS)})")
    parser.add_argument("--collective", metavar="C,...", default=COLLECTIVES,
                        type=chosen_of(COLLECTIVES), help="(default all)")
    parser.add_argument("--nodes", metavar="H,...", default=NODES,
                        type=numbers, help="(default 2 to 256)")
    parser.add_argument("--ppn", metavar="L", default=4, type=whole(1, 64),
                        help="ranks a node (default 4)")
    parser.add_argument("--sizes", metavar="S,...", default=SIZES, type=sizes,
                        help=f"of blocks (default {SIZES})")
    parser.add_argument("--limit", metavar="S", default=60,
                        type=whole(1, 86400),
                        help="seconds for a run (default 60)")
    parser.add_argument("--railbench", default=RAILBENCH, help="the program")
    parser.add_argument("--draw", action="store_true",
                        help="only write table and picture again")
    return parser.parse_args()


def main():
    args = options()
    path = os.path.join(args.folder, "times.csv")
    if not args.draw:
        os.makedirs(args.folder, exist_ok=True)
        simulate_all(args, path)
    draw(args, path)
    return 0
