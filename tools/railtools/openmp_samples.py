# SPDX-License-Identifier: BSD-3-Clause
"""What scripts/compare-openmp has measured in each round."""
from railtools.rounds import Tries, interval_text, median_interval, paired


class Samples:
    def __init__(self):
        self.figures = {}  # {(program, figure, launch): {round: value}}
        self.costs = {}  # {(program, launch): {title: sum over the ranks}}
        self.regions = {}  # {(program, launch): those of the latest round}
        self.tries = Tries()
        self.noise, self.seconds, self.commands = [], [], {}

    def add(self, program, launch, number, found):
        for figure, value in found.items():
            key = program, figure, launch
            self.figures.setdefault(key, {})[number] = value


def cell(samples, key, digits):
    values = samples.figures.get(key, {}).values()
    return interval_text(median_interval(values), digits) if values else "-"


def ratio(samples, program, figure, above, below):
    found = paired(samples.figures.get((program, figure, above), {}),
                   samples.figures.get((program, figure, below), {}))
    return interval_text(found[0], 2) if found else "-"
