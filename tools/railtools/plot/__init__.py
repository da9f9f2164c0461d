# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of railbench results with gnuplot.

Every result file (.json or .json.gz; of a directory: all below it) becomes
pictures beside it, in the form of figures 6 to 12 of the paper (Cai et al. 2009), in
dashed lines what the machine can do at best, if the result tells; collectives
in that of figures 9 to 11 of Qian and Afsahi 2008 and figure 5 of Qian et al. 2008, with the time
over the number of ranks if a folder has results of several; irregular
all-to-all in that of figures 15 to 23 of Liu et al. 2002, a picture a pattern, with
where the time goes (scripts/irregular-figures: these figures themselves);
degrade the rate over time; degrade-any how long each library's stream stood
still. Needs nothing but the JSON files, so it also draws what another machine
measured.

A picture holds 8 curves at most, beside limits. More become several pictures,
-1, -2 …, in the order of the result; where others are measured beside
dapl_rail, its curves are in each of them, and puts come after sends. The title
tells how many --curves leaves out.
"""
import argparse
import os
import shutil
import sys

from railtools import irregular
from railtools.options import Parser
from railtools.plot.alltoallv import irregular_pictures, seed_pictures
from railtools.plot.configurations import IRREGULAR, setup_name
from railtools.plot.degrade import degrade_pictures
from railtools.plot.degrade_any import degrade_any_pictures
from railtools.plot.distributions import box_pictures, cdf_pictures
from railtools.plot.gnuplot import TERMINALS, draw, fail
from railtools.plot.papers import paper_pictures
from railtools.plot.scaling import scaling
from railtools.plot.sizes import (
    CURVES,
    breakdown_pictures,
    curve_pictures,
    limits_pictures,
    speedup_pictures,
)
from railtools.results import ENDINGS, Unreadable, find

PICTURES = dict.fromkeys(CURVES, curve_pictures) | {
    "papers": paper_pictures,
    IRREGULAR: irregular_pictures, irregular.TEST: seed_pictures,
    "breakdown": breakdown_pictures, "limits": limits_pictures,
    "degrade": degrade_pictures, "degrade-any": degrade_any_pictures}


def only(result, wanted):
    """The result with those curves alone whose labels have such a text."""
    if not wanted or "configurations" not in result:
        return result
    chosen = [setup for setup in result["configurations"]
              if any(text in setup_name(setup) for text in wanted)]
    if not chosen:
        fail(f"--curves: '{','.join(wanted)}' is wrong; allowed: parts of "
             + "; ".join(map(setup_name, result["configurations"])))
    left = len(result["configurations"]) - len(chosen)
    indices = {setup["index"] for setup in chosen}
    return result | {
        "configurations": chosen, "left_out": left, "whole": result,
        "results": [row for row in result["results"]
                    if row["configuration"] in indices]}


KINDS = {"curves": lambda result: PICTURES.get(result["test"],
                                               lambda _: ())(result),
         "cdf": cdf_pictures, "box": box_pictures,
         "speedup": speedup_pictures}


def stem_of(path):
    return path[:-len(next(end for end in ENDINGS if path.endswith(end)))] \
        if path.endswith(ENDINGS) else os.path.splitext(path)[0]


def pictures_of(path, result, kinds):
    """(path without ending, program) of all pictures of one result."""
    for kind in kinds:
        for name, text in KINDS[kind](result):
            yield stem_of(path) + name, text


def kinds(text):
    found = text.split(",")
    if not set(found) <= set(KINDS):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of {', '.join(KINDS)}")
    return list(dict.fromkeys(found))


def options():
    parser = Parser(prog="scripts/plot", description=__doc__)
    parser.add_argument("--quiet", action="store_true",
                        help="don't print the pictures' names")
    parser.add_argument("--format", choices=[*TERMINALS, "both"],
                        default="svg", help="of the pictures (default svg)")
    parser.add_argument("--kind", metavar="K,...", type=kinds,
                        default="curves",
                        help="curves (default); cdf, box: distributions of "
                             "bw, bibw, lat, and of single calls (--each), "
                             "smallest, middle and largest size; speedup: "
                             "over the best single rail")
    parser.add_argument("--curves", metavar="TEXT,...",
                        type=lambda text: text.split(","), default=[],
                        help="only those with such a text in their label")
    parser.add_argument("paths", metavar="RESULT.json|DIR", nargs="+")
    return parser.parse_args()


def main():
    args = options()
    if not shutil.which("gnuplot"):
        fail("gnuplot is not installed (make deps installs it)", 1)
    try:
        found = find(args.paths)
    except Unreadable as error:
        fail(str(error))
    if not found:
        fail(f"no result of railbench in {' '.join(args.paths)}", 1)
    formats = list(TERMINALS) if args.format == "both" else [args.format]
    for path, result in found:
        try:
            pictures = draw(path, pictures_of(path, only(result, args.curves),
                                              args.kind), formats)
        except (KeyError, TypeError, IndexError) as error:
            fail(f"{path}: malformed result: {error!r}")
        except OSError as error:
            fail(f"{path}: {error}")
        if not pictures and result["test"] in PICTURES:
            print(f"scripts/plot: {path}: nothing to draw", file=sys.stderr)
        if not args.quiet and pictures:
            print("\n".join(pictures))
    if "curves" not in args.kind:
        return
    pictures = draw("scaling", scaling(
        [(path, only(result, args.curves)) for path, result in found]), formats)
    if not args.quiet and pictures:
        print("\n".join(pictures))
