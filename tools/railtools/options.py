# SPDX-License-Identifier: BSD-3-Clause
"""The scripts' command lines: parsing, messages, and the end of a script."""
import argparse
import os
import re
import signal
import subprocess
import sys
import time

from railtools.paths import NAME, ROOT
from railtools.programs import Failure

LOG_S = 10  # between lines of a log
log_next = time.monotonic() + LOG_S


def progress(text):
    """Shows the present step; a log gets a line now and then. "" takes it away
    from a terminal."""
    global log_next
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
    elif text and time.monotonic() >= log_next:
        log_next = time.monotonic() + LOG_S
        print(f"{NAME}: {text}", file=sys.stderr, flush=True)


def another_round(args, seconds):
    """Is there another round, and time for it? seconds: of each one before."""
    in_time = not args.time or not seconds or \
        sum(seconds) + max(seconds) <= 60 * args.time
    return in_time and len(seconds) < args.repeat


def size_name(size):
    for unit, name in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size >= unit and size % unit == 0:
            return f"{size // unit}{name}"
    return str(size)


def wrong(text):
    print(f"{NAME}: {text}", file=sys.stderr)
    sys.exit(2)


class Parser(argparse.ArgumentParser):
    """Shows the description as it is written; options are written out."""

    def __init__(self, **given):
        given.setdefault("allow_abbrev", False)
        given.setdefault("formatter_class",
                         argparse.RawDescriptionHelpFormatter)
        super().__init__(**given)

    def error(self, message):
        wrong(f"{message}; see --help")


def parse_size(text):
    """Bytes, 0 if it is wrong."""
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    match = re.fullmatch(r"([1-9]\d{0,9})([KMG]?)", text)
    return int(match[1]) * units[match[2]] if match else 0


def sizes(text):
    found = [parse_size(word) for word in text.split(",")]
    if not all(1 <= size <= 64 << 20 for size in found) or \
            len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a list of distinct sizes from 1 to "
            "64M (K, M: powers of 1024)")
    return sorted(found)


def whole(least, most):
    """A number of that range, with no more digits than the largest."""
    def parse(text):
        if not re.fullmatch(rf"\d{{1,{len(str(most))}}}", text) or \
                not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"'{text}' is wrong; allowed: a number from {least} to {most}")
        return int(text)
    return parse


count = whole(1, 100)


def duration(text, unit):
    """A time with or without a unit, in @unit; None if it is wrong."""
    seconds = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600}
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s|min|m|h|)", text)
    return (float(match[1]) * seconds[match[2] or unit] / seconds[unit]
            if match else None)


def minutes(text):
    found = duration(text, "min")
    if found is None or not 0.001 <= found <= 9999:
        raise argparse.ArgumentTypeError(
            f"'{text}' is wrong; allowed: a number of minutes, 0.001 to 9999, "
            "or with a unit: 90s, 2min, 1h")
    return found


ROUNDS, ROUNDS_MAX = 7, 100


def add_rounds(parser):
    """--repeat and --time; see settle_rounds()."""
    parser.add_argument("--repeat", metavar="R", type=count,
                        help=f"rounds (default {ROUNDS}; at least 6 give an "
                             "interval of 95 %%)")
    parser.add_argument("--time", metavar="MINUTES", type=minutes,
                        help="rounds for as long as another one would end "
                             "within it, at least one (default of --repeat "
                             f"then {ROUNDS_MAX})")


def settle_rounds(args):
    """Without --repeat, the default, or so many as the time has room for."""
    args.repeat = args.repeat or (ROUNDS_MAX if args.time else ROUNDS)


def chosen_of(names, several=()):
    """@several: what stands for which names."""
    def parse(text):
        found = [name for word in text.split(",")
                 for name in dict(several).get(word, [word])]
        if not set(found) <= set(names) or len(set(found)) < len(found):
            raise argparse.ArgumentTypeError(
                f"'{text}' is wrong; allowed: a list of {', '.join(names)}")
        return found
    return parse


def add_pictures(parser):
    parser.add_argument("--pictures", choices=("svg", "png", "both"),
                        default="svg",
                        help="format of the pictures (default svg)")


def draw(folder, pictures="svg"):
    """@pictures: as of add_pictures(). @return the exit status of
    scripts/plot."""
    return subprocess.run([os.path.join(ROOT, "scripts", "plot"), "--quiet",
                           "--format", pictures, folder],
                          check=False).returncode


def conclude(main):
    """Runs a script to its end. What ends it before is told in one line."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # as nohup has it
            signal.signal(number, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        why = "interrupted"
    except (Failure, OSError) as error:
        why = str(error)
    progress("")
    print(f"{NAME}: {why}", file=sys.stderr)
    sys.exit(1)
