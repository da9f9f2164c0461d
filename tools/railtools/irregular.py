# SPDX-License-Identifier: BSD-3-Clause
"""Figures 15 to 23 of Liu et al. 2002: which runs of railbench alltoallv they need,
and what they show of them. Not a program."""
from dataclasses import dataclass
from math import ceil, isqrt

TEST = "alltoallv-figures"
# of what the time of a call consists
PARTS = {"distribute_us": "distribute", "communicate_us":
         "communicate and wait", "collect_us": "collect",
         "deliver_us": "deliver"}
SHORT, LONG = (16, 64, 256, 1024), (1024, 2048, 4096)  # M_max
BLOCKING, NONBLOCKING = ("a1", "a2", "a4"), ("a1-n1", "a2-n1", "a4-n1")
MESH = ("a3", "a3-n1", "a4", "a4-n1", "a4-n2")
PATTERNS = {"a": "spike", "b": "transpose"}  # Pattern1 and Pattern2
RANKS, ELEMENTS, TIMES = "ranks", "elements", "parts"  # what it is drawn over


@dataclass
class Figure:
    """A picture; `squares`: over numbers of ranks that are squares."""
    name: str
    element: int
    pattern: str
    algorithms: tuple
    over: str
    sizes: tuple
    squares: bool = False

    def numbers_of_ranks(self, ranks):
        """The paper's are 64, and 25 to 100 where it takes squares."""
        if self.over != RANKS:
            return [ranks]
        if not self.squares:
            return [2 ** n for n in range(2, ranks.bit_length())
                    if 2 ** n < ranks] + [ranks]
        root = isqrt(ranks)
        return [n * n for n in range(ceil(5 * root / 8), 5 * root // 4 + 1)]


def beside_stages(element, first):
    """A4 beside A1 and A2 on one machine; @first: the number of the first."""
    yield Figure(f"{first}a", element, "spike", BLOCKING, RANKS, (1024,))
    yield Figure(f"{first}b", element, "spike", NONBLOCKING, RANKS, (1024,))
    for part, pattern in PATTERNS.items():
        yield Figure(f"{first + 1}{part}", element, pattern,
                     BLOCKING + NONBLOCKING, ELEMENTS, SHORT + LONG[1:])


def beside_mesh(element, first):
    """... beside A3."""
    for part, pattern in PATTERNS.items():
        yield Figure(f"{first}{part}", element, pattern, MESH, ELEMENTS, SHORT)


FIGURES = (
    *beside_stages(48, 15), *beside_stages(22, 17), *beside_mesh(48, 19),
    Figure("20", 48, "transpose", ("a3", "a4"), TIMES, LONG),
    *beside_mesh(22, 21),
    Figure("22a", 22, "spike", MESH, TIMES, LONG),
    Figure("22b", 22, "transpose", MESH, TIMES, LONG),
    Figure("23", 22, "transpose", ("a3-n1", "a4-n2"), RANKS, (4096,), True))


def measurements(ranks):
    """{(ranks, element, pattern): (algorithms, sizes)} for all figures."""
    found: dict = {}
    for figure in FIGURES:
        for number in figure.numbers_of_ranks(ranks):
            algorithms, sizes = found.setdefault(
                (number, figure.element, figure.pattern), (set(), set()))
            algorithms.update(figure.algorithms)
            sizes.update(figure.sizes)
    return {where: (sorted(algorithms), sorted(sizes))
            for where, (algorithms, sizes) in sorted(found.items())}


def points(figure, result):
    """(ranks, algorithm, row) of what the figure shows, as far as it has been
    measured."""
    wanted = figure.numbers_of_ranks(result["ranks"])
    for run in result["runs"]:
        number = run["options"]["ranks"]
        if number not in wanted or run["options"]["element"] != figure.element:
            continue
        setups = {setup["index"]: setup for setup in run["configurations"]}
        for row in run["results"]:
            setup = setups[row["configuration"]]
            if setup["pattern"] == figure.pattern and \
                    setup["algorithm"] in figure.algorithms and \
                    row["elements"] in figure.sizes:
                yield number, setup["algorithm"], row


def curves(figure, result):
    """[algorithm, [(x, median, lo, hi)]]"""
    found: dict = {algorithm: [] for algorithm in figure.algorithms}
    for ranks, algorithm, row in points(figure, result):
        time = row["collective"]["latency_us"]
        found[algorithm].append((
            ranks if figure.over == RANKS else row["elements"],
            time["median"], time["lo"], time["hi"]))
    return [(algorithm, sorted(curve)) for algorithm, curve in found.items()
            if curve]


def bars(figure, result):
    """[(elements, algorithm, [part])], in the order of the figure."""
    return sorted(
        ((row["elements"], algorithm, [row["parts"][part] for part in PARTS])
         for _, algorithm, row in points(figure, result)),
        key=lambda bar: (bar[0], figure.algorithms.index(bar[1])))


def caption(figure, result):
    text = (f"Figure {figure.name} of Liu et al. 2002: {figure.pattern}, elements of "
            f"{figure.element} bytes")
    return text + (f", M_max = {figure.sizes[0]}" if figure.over == RANKS
                   else f", {result['ranks']} ranks")
