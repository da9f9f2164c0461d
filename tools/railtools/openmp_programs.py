# SPDX-License-Identifier: BSD-3-Clause
"""The programs of scripts/compare-openmp: compiling them, and reading what they
and RAILOMP_STATS print."""
import itertools
import os
import re
import shutil
import statistics
import subprocess

from railtools.files import replace
from railtools.paths import BIN, ROOT
from railtools.programs import Failure, run

CONSTRUCTS = "constructs"
NPB = ("ep", "cg", "is", "mg", "ft", "bt", "sp", "lu")
CLASSES = ("S", "W", "A", "B", "C")
COMPILERS = {"gcc": ["gcc", "-fopenmp"],
             "railomp": [os.path.join(ROOT, BIN, "railomp-cc")]}


def compile_both(name, folder, arguments):
    for compiler, words in COMPILERS.items():
        run([*words, "-O3", "-w", *arguments, "-lm", "-o",
             os.path.join(folder, f"{name}.{compiler}")])


def copy_npb(source, folder):
    """With times of more digits, as class S ends in hundredths of a second;
    and a declaration that is.c lacks."""
    tree = os.path.join(folder, "npb")
    shutil.copytree(source, tree, ignore=shutil.ignore_patterns(".git"))
    shutil.copy(os.path.join(tree, "config", "make.def.template"),
                os.path.join(tree, "config", "make.def"))
    path = os.path.join(tree, "common", "c_print_results.c")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    replace(path, re.sub(r"(Time in seconds = +%12)\.2f", r"\1.6f", text))
    replace(os.path.join(tree, "timers.h"), "double timer_read(int n);\n")
    run(["gcc", "-w", "-o", os.path.join(tree, "sys", "setparams"),
         os.path.join(tree, "sys", "setparams.c"), "-lm"])
    return tree


def compile_npb(tree, folder, name, size):
    place = os.path.join(tree, name.upper())
    common = os.path.join(tree, "common")
    run(["sh", "-c", 'cd "$0" && ../sys/setparams "$1" "$2"', place, name,
         size])
    compile_both(f"{name}.{size}", folder, [
        "-include", os.path.join(tree, "timers.h"), f"-I{common}",
        os.path.join(place, f"{name}.c"),
        *(os.path.join(common, f"{part}.c") for part in (
            "c_print_results", "c_timers", "wtime",
            *([] if name == "is" else ["c_randdp"])))])  # it has its own


def ended(process, limit_s):
    """(standard output, standard error) of a program that has been started."""
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        raise Failure(f"no end within {limit_s} s") from None
    if process.returncode:
        raise Failure(f"exit status {process.returncode}: "
                      f"{(err.strip() or out.strip())[-200:]}")
    return out, err


def figures_of(program, out):
    """{figure: value}; of NPB seconds, if the result is right."""
    if program == CONSTRUCTS:
        lines = [line.split(" ", 1) for line in out.splitlines()]
        return {name: float(us) for us, name in lines}
    seconds = re.search(r"Time in seconds = +(\S+)", out)
    if not seconds or not re.search(r"Verification += +SUCCESSFUL", out):
        raise Failure("does not verify")
    return {"s": float(seconds[1])}


def costs_of(out, err):
    """What the ranks' lines add up to, for each iteration."""
    lines = [line.split()[1:] for line in err.splitlines()
             if line.startswith("railomp: ")]
    iterations = re.search(r"Iterations += +(\d+)", out)
    if len(lines) < 2 or not iterations:
        return {}
    # the tables of regions and variables come behind the ranks' lines
    ranks = list(itertools.takewhile(lambda line: line[0].isdigit(),
                                     lines[1:]))
    found = {}
    for column, title in enumerate(lines[0]):
        cells = [line[column].rstrip("%") for line in ranks]
        numbers = [float(cell) for cell in cells
                   if cell != "-" and title != "memory"]
        is_share = title in ("efficiency", "coverage")
        if numbers:
            found[title] = (statistics.fmean(numbers) if is_share else
                            sum(numbers) / max(1, int(iterations[1])))
    return found


# In a region's line, times that a rank waits for others or for pages. They are
# sums over the ranks.
COMMUNICATION = ("barrier_ms", "fault_ms", "ahead_ms", "lock_ms")


def regions_of(err):
    """{region's name, or its address: {title: number}}"""
    lines = [line.split()[1:] for line in err.splitlines()
             if line.startswith("railomp: ")]
    at = [n for n, line in enumerate(lines) if line[0] == "region"]
    if not at:
        return {}
    titles = lines[at[0]][1:-1]
    found = {}
    for line in lines[at[0] + 1:]:
        if not line[0].startswith("0x"):
            break
        name = line[len(titles) + 1].rstrip(";")
        found[line[0] if name == "(no" else name] = dict(zip(titles, map(float, line[1:])))
    return found
