# SPDX-License-Identifier: BSD-3-Clause
"""Draws a collective's schedule: the messages between ranks, step by step, and
the contents of every rank's memory after each step, in the form of figures 4 to
6 of Qian and Afsahi 2008 (a column for each process, a row for each position).

Blocks that have been combined are named by the ranks that they are of: 0-3, or
0-1,5. In a reduce-scatter, 0-3:2 is block 2 of these ranks.

The operations are those of `railbench verify --schedule`; they are played here
with one symbol for each block. The text goes to standard output, or a picture
to --output FILE.svg.
"""
import argparse
import csv
import math
import os
import subprocess
import sys

from railtools.options import Parser, parse_size, wrong
from railtools.paths import ROOT

# Okabe and Ito's colours, which the colour-blind can tell apart: one per port.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
SCATTERED = "reduce_scatter_block"
NUMBERS = ("block", "rank", "phase", "step", "peer", "port", "flag", "lag",
           "every", "src_offset", "dst_offset", "bytes", "with_offset")


# ------------------------------------------------------------ the schedule

def operations(args):
    """The operations of each rank."""
    command = [args.railbench, "verify", "--schedule",
               "--collective", args.collective, "--algorithm", args.algorithm,
               "--ports", str(args.ports), "--root", str(args.root),
               "--sizes", str(args.bytes),
               "--zero-copy", "on" if args.zero_copy else "off"]
    if args.nodes:
        command += ["--nodes", args.nodes]
    else:
        command += ["--ranks", str(args.ranks)]
    for option in ("ppn", "groups"):
        if getattr(args, option):
            command += [f"--{option}", str(getattr(args, option))]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        sys.exit(run.returncode)
    ranks: list = []
    for row in csv.DictReader(run.stdout.splitlines()):
        op: dict = {k: int(v or 0) if k in NUMBERS else v for k, v in row.items()}
        while len(ranks) <= op["rank"]:
            ranks.append([])
        ranks[op["rank"]].append(op)
    return ranks


def node_of_ranks(args, n):
    """The node of each rank."""
    if args.nodes:
        sizes = [int(size) for size in args.nodes.split(",")]
        return [node for node, size in enumerate(sizes) for _ in range(size)]
    return [rank // (args.ppn or n) for rank in range(n)]


def set_stages(ops):
    """A stage is a phase and step; a rank never goes back to an earlier one."""
    stage = (0, 0)
    for op in ops:
        stage = max(stage, (op["phase"], op["step"]))
        op["stage"] = stage


# ------------------------------------------------------------- playing it

def ranks_of(symbol):
    """(the ranks that it is of, what follows them)"""
    names = symbol.partition("/")[0].partition(":")[0]
    ranks: set = set()
    for name in names.split(","):
        first, _, last = name.partition("-")
        ranks.update(range(int(first), int(last or first) + 1))
    return ranks, symbol[len(names):]


def combined(left, right):
    """The symbol of the ranks of both."""
    ranks, rest = ranks_of(left)
    ranks |= ranks_of(right)[0]
    firsts = sorted(rank for rank in ranks if rank - 1 not in ranks)
    lasts = sorted(rank for rank in ranks if rank + 1 not in ranks)
    return ",".join(f"{first}-{last}" if last > first else f"{first}"
                    for first, last in zip(firsts, lasts)) + rest


class Machine:
    """All memories, one symbol per grain; missing: nothing was written."""

    def __init__(self, ranks, node_of, args):
        self.ranks, self.node_of = ranks, node_of
        self.next = [0] * len(ranks)
        self.memory = {}
        self.notes = {}  # (to, from, tag): how many
        self.flags = {}  # (rank, flag): payload
        self.messages = []  # of this stage, and their phase:
        self.phase = 0
        self.reduced = args.collective == SCATTERED
        self.bytes = args.bytes
        self.grain = args.bytes
        for op in (op for ops in ranks for op in ops):
            for value in (op["src_offset"], op["dst_offset"], op["bytes"],
                          op["with_offset"]):
                self.grain = math.gcd(self.grain, value)
        self.fill(args)

    def fill(self, args):
        n = len(self.ranks)
        if args.collective == "barrier":
            return
        blocks = n if args.collective in (
            "alltoall", "scatter", SCATTERED) else 1
        for rank in range(n):
            if args.collective in ("bcast", "scatter") and rank != args.root:
                continue
            for block in range(blocks):
                self.write(rank, "send", block * self.bytes,
                           self.symbols(rank, block, blocks > 1))

    def symbols(self, rank, block, many):
        dot = ":" if self.reduced else "." if len(self.ranks) > 10 else ""
        text = f"{rank}{dot}{block}" if many else str(rank)
        parts = self.bytes // self.grain
        return [text if parts == 1 else f"{text}/{i}" for i in range(parts)]

    def place(self, rank, space):
        return (space, self.node_of[rank] if space == "node" else rank)

    def read(self, rank, space, offset, size):
        cells = self.memory.get(self.place(rank, space), {})
        return [cells.get(offset // self.grain + i)
                for i in range(size // self.grain)]

    def write(self, rank, space, offset, values):
        cells = self.memory.setdefault(self.place(rank, space), {})
        for i, value in enumerate(values):
            if value is not None:
                cells[offset // self.grain + i] = value

    def note(self, to, source, tag):
        key = (to, source, tag)
        self.notes[key] = self.notes.get(key, 0) + 1

    def take(self, rank, op):
        """The notification that a WAIT is for, if it is there."""
        key = (rank, op["peer"], op["tag"])
        if not self.notes.get(key):
            return False
        self.notes[key] -= 1
        return True

    def perform(self, rank, op):
        """False: the rank must wait. One start only: a lag passes."""
        kind, peer = op["kind"], op["peer"]
        data = self.read(rank, op["src"], op["src_offset"], op["bytes"])
        if kind == "put":
            self.write(peer, op["dst"], op["dst_offset"], data)
            self.note(peer, rank, "data")
            self.messages.append((rank, peer, op["port"], data))
            self.phase = op["phase"]
        elif kind == "get":
            data = self.read(peer, op["src"], op["src_offset"], op["bytes"])
            self.write(rank, op["dst"], op["dst_offset"], data)
            self.messages.append((peer, rank, op["port"], data))
            self.phase = op["phase"]
        elif kind == "notify":
            self.note(peer, rank, op["tag"])
            if op["tag"] == "data":
                self.messages.append((rank, peer, op["port"], []))
                self.phase = op["phase"]
        elif kind == "copy":
            self.write(rank, op["dst"], op["dst_offset"], data)
        elif kind == "combine":
            others = self.read(rank, op["with"], op["with_offset"],
                               op["bytes"])
            self.write(rank, op["dst"], op["dst_offset"],
                       map(combined, data, others))
        elif kind == "signal":
            self.flags[rank, op["flag"]] = data
        elif kind == "wait":
            return op["lag"] > 0 or self.take(rank, op)
        elif kind == "await" and not op["lag"]:
            line = self.flags.get((peer, op["flag"]))
            if line is None:
                return False
            self.write(rank, op["dst"], op["dst_offset"],
                       line[:op["bytes"] // self.grain])
        return True

    def play(self, stage):
        """All ranks as far as they get within the stage."""
        self.messages = []
        moved = True
        while moved:
            moved = False
            for rank, ops in enumerate(self.ranks):
                while (self.next[rank] < len(ops) and
                       ops[self.next[rank]]["stage"] <= stage and
                       self.perform(rank, ops[self.next[rank]])):
                    self.next[rank] += 1
                    moved = True

    def snapshot(self):
        return {place: dict(cells) for place, cells in self.memory.items()}


def play(ranks, node_of, args):
    """[(title, messages, memory)]: at the beginning, then of each stage."""
    for ops in ranks:
        set_stages(ops)
    stages = sorted({op["stage"] for ops in ranks for op in ops})
    machine = Machine(ranks, node_of, args)
    frames: list = [("Before", [], machine.snapshot())]
    step = 0
    for stage in stages:
        machine.play(stage)
        title = f"Phase {stage[0]}"
        if machine.messages:
            # in its own phase, even when parts of the next come before it
            step += 1
            title = f"Phase {machine.phase}: after communication step {step}"
        memory = machine.snapshot()
        if machine.messages or memory != frames[-1][2]:
            frames.append((title, machine.messages, memory))
    if any(machine.next[r] < len(ops) for r, ops in enumerate(ranks)):
        sys.exit("draw-schedule: the schedule does not end; "
                 "see railbench prove")
    return frames


# ------------------------------------------------------- what is drawn of it

NAMES = {"send": "SEND", "recv": "RECV", "temp": "TEMP", "node": "NODE"}


def tables(frame, before):
    """[(name, columns, rows)] of the spaces that this stage has changed, a row
    being [(text, is new)]; of the first frame, those that hold something."""
    memory = frame[2]
    found = []
    for space, name in NAMES.items():
        places = sorted(place for place in memory if place[0] == space)
        if before and all(memory[p] == before[2].get(p) for p in places):
            continue
        used = sorted({i for place in places for i in memory[place]})
        rows = []
        for i in used:
            old = [before[2].get(p, {}).get(i) if before else None
                   for p in places]
            rows.append([(memory[p].get(i, ""),
                          bool(before) and memory[p].get(i) != was)
                         for p, was in zip(places, old)])
        if rows:
            found.append((name, [place[1] for place in places], rows))
    return found


def describe(data):
    """"0 1 2" for the blocks of a message, "-" for none."""
    known = [symbol for symbol in data if symbol is not None]
    return " ".join(known) if known else "-"


def title_of(args, n, nodes):
    title = f"{args.collective} {args.algorithm}, {n} ranks"
    if nodes > 1:
        title += f" on {nodes} nodes"
    return title + f", {args.ports} port{'s' * (args.ports > 1)}"


def as_text(title, frames):
    lines = [title]
    before = None
    for frame in frames:
        lines += ["", frame[0]]
        for source, target, port, data in sorted(frame[1]):
            lines.append(f"  {source} -> {target}  port {port}:  "
                         f"{describe(data)}")
        for name, columns, rows in tables(frame, before):
            texts = [[f"{t}{'*' * new}" for t, new in row] for row in rows]
            heads = [f"{'N' if name == 'NODE' else 'P'}{c}" for c in columns]
            width = 1 + max(len(t) for row in texts + [heads] for t in row)
            lines.append(f"  {name}  " + "".join(h.rjust(width)
                                                 for h in heads))
            lines += [" " * (4 + len(name)) +
                      "".join(t.rjust(width) for t in row) for row in texts]
        before = frame
    return "\n".join(lines + ["", "* written in this step", ""])


# ------------------------------------------------------------------ picture

CELL, GAP, FONT = 24, 28, 11


class Picture:
    def __init__(self):
        self.parts, self.width, self.height = [], 0, 0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def text(self, x, y, text, size=FONT, anchor="middle", weight="normal"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" '
            f'text-anchor="{anchor}" font-weight="{weight}">{text}</text>')
        length = 0.62 * size * len(text)
        self.reach(x + (length if anchor == "start" else length / 2), y + 4)

    def cell(self, x, y, width, text, new):
        fill = "#cfe4f2" if new else "#ffffff" if text else "#f2f2f2"
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{CELL - 4}" '
            f'fill="{fill}" stroke="#999999"/>')
        if text:
            self.text(x + width / 2, y + CELL / 2 + 2, text)
        self.reach(x + width, y + CELL)

    def arrow(self, x1, y1, x2, y2, port, tip):
        colour = port % len(COLOURS)
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}" '
            f'stroke="{COLOURS[colour]}" stroke-width="1.4" '
            f'marker-end="url(#tip{colour})"><title>{tip}</title></line>')

    def write(self, file):
        tips = "".join(
            f'<marker id="tip{i}" viewBox="0 0 8 8" refX="7" refY="4" '
            f'markerWidth="7" markerHeight="7" orient="auto">'
            f'<path d="M0 0L8 4L0 8z" fill="{colour}"/></marker>'
            for i, colour in enumerate(COLOURS))
        file.write(
            f'<svg xmlns="http://www.w3.org/2000/svg" '
            f'width="{self.width + GAP:.0f}" '
            f'height="{self.height + GAP:.0f}" '
            f'font-family="DejaVu Sans, sans-serif">\n<defs>{tips}</defs>\n'
            f'<rect width="100%" height="100%" fill="#ffffff"/>\n' +
            "\n".join(self.parts) + "\n</svg>\n")


def draw_messages(picture, x, y, n, width, messages):
    """From the upper row of ranks to the lower one. @return the next y."""
    depth = 46 + 4 * n
    for rank in range(n):
        middle = x + (rank + 0.5) * width
        picture.text(middle, y + 10, f"P{rank}")
        picture.text(middle, y + depth + 26, f"P{rank}")
    for source, target, port, data in messages:
        tip = f"{source} to {target}, port {port}: {describe(data)}"
        picture.arrow(x + (source + 0.5) * width, y + 14,
                      x + (target + 0.5) * width, y + depth + 14, port, tip)
    return y + depth + 40


def draw_table(picture, x, y, table, width):
    name, columns, rows = table
    picture.text(x, y + 10, name, anchor="start", weight="bold")
    for i, column in enumerate(columns):
        picture.text(x + (i + 0.5) * width, y + 26,
                     f"{'N' if name == 'NODE' else 'P'}{column}")
    for k, row in enumerate(rows):
        for i, (text, new) in enumerate(row):
            picture.cell(x + i * width, y + 32 + k * (CELL - 4), width, text,
                         new)
    return y + 32 + len(rows) * (CELL - 4) + 14


def draw(title, frames, n, ports):
    """The frames side by side: messages above, memory below, all memories at
    the same height."""
    picture = Picture()
    symbols = max((len(t) for f in frames for cells in f[2].values()
                   for t in cells.values()), default=1)
    width = max(CELL, 7 * symbols + 8)
    picture.text(GAP, 26, title, 15, "start", "bold")
    for port in range(min(ports, len(COLOURS))):
        x = GAP + 70 * port
        picture.arrow(x, 44, x + 22, 44, port, f"port {port}")
        picture.text(x + 28, 48, f"port {port}", anchor="start")
    x, before = GAP, None
    memory_top = 90 + (40 + 46 + 4 * n if any(f[1] for f in frames) else 0)
    for frame in frames:
        picture.text(x, 76, frame[0], FONT + 1, "start", "bold")
        if frame[1]:
            draw_messages(picture, x, 84, n, width, frame[1])
        y = memory_top
        for table in tables(frame, before):
            y = draw_table(picture, x, y, table, width)
        x = max(x + n * width, x + 7.5 * len(frame[0])) + GAP
        before = frame
    return picture


# --------------------------------------------------------------------- main

def block_size(text):
    size = parse_size(text)
    if not size:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a size of at least 1 (K, M: powers "
            "of 1024)")
    return size


def parse():
    parser = Parser(description=__doc__, allow_abbrev=True)
    parser.add_argument("collective", help="as railbench prove has them")
    parser.add_argument("algorithm", help="one; railbench prove --algorithm "
                        "all lists them")
    parser.add_argument("--ranks", type=int, default=9,
                        help="(default %(default)s)")
    parser.add_argument("--ppn", type=int, help="ranks per node (default: all)")
    parser.add_argument("--nodes", help="ranks of each node, like 4,4,2, "
                        "instead of --ranks and --ppn")
    parser.add_argument("--ports", type=int, default=1,
                        help="of multi-port algorithms (default %(default)s)")
    parser.add_argument("--root", type=int, default=0,
                        help="of gather, bcast, scatter and reduce (default "
                        "%(default)s)")
    parser.add_argument("--groups", type=int,
                        help="per node, of mc-groups (default: its own)")
    parser.add_argument("--bytes", type=block_size, default=8,
                        help="of a block (default %(default)s)")
    parser.add_argument("--zero-copy", action="store_true",
                        help="put from and to the final memory")
    parser.add_argument("--output", metavar="FILE",
                        help="a picture if it ends in .svg, text if in .txt "
                        "(default: text on standard output)")
    parser.add_argument("--railbench", metavar="PROGRAM",
                        default=os.path.join(ROOT, "build/bin/railbench"),
                        help="(default: this folder's)")
    args = parser.parse_args()
    if args.output and not args.output.endswith((".svg", ".txt")):
        wrong(f"--output: '{args.output}' is wrong; allowed: a name that ends "
              "in .svg or .txt")
    if args.algorithm == "all" or "," in args.algorithm:
        wrong(f"algorithm: '{args.algorithm}' is wrong; allowed: one algorithm")
    return args


def main():
    args = parse()
    try:
        ranks = operations(args)
    except OSError as error:
        wrong(f"--railbench: {error}")
    if not ranks:
        sys.exit("draw-schedule: the schedule has no operations")
    node_of = node_of_ranks(args, len(ranks))
    frames = play(ranks, node_of, args)
    title = title_of(args, len(ranks), len(set(node_of)))
    try:
        with open(args.output or sys.stdout.fileno(), "w",
                  encoding="utf-8") as file:
            if args.output and args.output.endswith(".svg"):
                draw(title, frames, len(ranks), args.ports).write(file)
            else:
                file.write(as_text(title, frames))
    except OSError as error:
        wrong(f"--output: {error}")
