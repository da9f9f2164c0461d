# SPDX-License-Identifier: BSD-3-Clause
"""The result of scripts/degrade-any: a record in JSON, and a table of it."""
import time

from railtools.degrade_any import faults, judge
from railtools.files import hide
from railtools.options import size_name
from railtools.results import SCHEMA
from railtools.rounds import ENOUGH, median_interval

TEST = "degrade-any"
DAMAGE = ("lost", "doubled", "wrong")
HEADER = ("fault", "library", "runs", *judge.OUTCOMES, "stall, ms",
          "settled, ms", "rate meanwhile, %", "back, ms",
          ", ".join(DAMAGE))


def record_of(args, libraries, machine, command, notes):
    """A result without rows. @machine: of a record of railbench."""
    return {
        "schema": SCHEMA, "test": TEST, "version": machine["version"],
        "revision": machine["revision"],
        "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "partial": True, "command": command,
        "options": {"faults": args.faults, "seed": args.seed,
                    "kinds": args.kinds, "rate_mbit": args.rate,
                    "outage_s": args.outage, "bytes": args.bytes,
                    "window": args.window, "jobs": args.jobs},
        "machine": machine["machine"], "notes": notes,
        "configurations": [
            {"index": index, "label": library.name, "key": library.key,
             "settings": library.told(), "why": library.why, "version": "",
             "commands": []}
            for index, library in enumerate(libraries)],
        "results": [], "failed": []}


def add(record, task, row):
    """A row, or why there is none."""
    setup = next(setup for setup in record["configurations"]
                 if setup["key"] == task["library"])
    where = {"configuration": setup["index"], "kind": task["kind"],
             "fault": task["fault"]}
    if "failed" in row:
        record["failed"].append(where | row)
        return
    setup["version"] = row.pop("version") or setup["version"]
    setup["commands"] = row.pop("commands")
    record["results"].append(where | {"bytes": task["bytes"]} | row)


def done(record):
    """(library, kind, fault) of all rows."""
    keys = {setup["index"]: setup["key"]
            for setup in record["configurations"]}
    return {(keys[row["configuration"]], row["kind"], row["fault"])
            for row in record["results"]}


# ----------------------------------------------------------------- tables ---

def interval(rows, name):
    """Of the runs that have this figure."""
    values = [row[name] for row in rows if row[name] is not None]
    if not values:
        return "-"
    middle, low, high = median_interval(values)
    return f"{middle:.0f} [{low:.0f}, {high:.0f}]" if len(values) > 1 \
        else f"{middle:.0f}"


def cells(kind, label, rows):
    counts = [sum(row["outcome"] == what for row in rows)
              for what in judge.OUTCOMES]
    return [kind, label, len(rows), *[count or "-" for count in counts],
            *[interval(rows, name) for name in (
                "stall_ms", "settled_ms", "meanwhile_pct", "back_ms")],
            ", ".join(str(sum(row[name] for row in rows))
                      for name in DAMAGE)]


def table(header, rows):
    """Of Markdown."""
    def line(row):
        return "| " + " | ".join(str(cell).replace("|", "/")
                                 for cell in row) + " |"
    return [line(header), "|" + "---|" * len(header), *map(line, rows)]


def outcomes(record):
    for kind in record["options"]["kinds"]:
        for setup in record["configurations"]:
            rows = [row for row in record["results"] if row["kind"] == kind
                    and row["configuration"] == setup["index"]]
            if rows:
                yield cells(kind, setup["label"], rows)


def rails_of(record, setup):
    found = [", ".join(row["rails"]) for row in record["results"]
             if row["configuration"] == setup["index"]]
    return max(set(found), key=found.count) if found else "-"


def settings(record):
    for setup in record["configurations"]:
        yield (setup["label"], setup["version"].split(", ident")[0],
               f"`{setup['settings']}`" if setup["settings"] else "-",
               setup["why"] or "-",
               rails_of(record, setup))


def reasons(record):
    """What libraries said when they ended a stream, and runs that could not be
    made."""
    labels = {setup["index"]: setup["label"]
              for setup in record["configurations"]}
    for row in record["results"]:
        where = (f"{labels[row['configuration']]}, {row['kind']}, fault "
                 f"{row['fault'] + 1}")
        if row["outcome"] == judge.ENDS:
            yield (f"{where}: ended {row['ended_ms']:.0f} ms after the fault "
                   f"began: {row['why'] or 'nothing was said'}")
        elif not row["leaves"] and row["outcome"] != judge.HANGS:
            yield f"{where}: the stream was complete, but a process stayed"
    for row in record["failed"]:
        yield (f"{labels[row['configuration']]}, {row['kind']}, fault "
               f"{row['fault'] + 1}: no run: {row['failed']}")


def planned(record):
    options = record["options"]
    return (options["faults"] * len(options["kinds"])
            * len(record["configurations"]))


def text(record):
    options, machine = record["options"], record["machine"]
    count = len(record["results"])
    lines = ["# A rail fails: dapl_rail and other libraries", ""]
    if record["partial"]:
        lines += [f"**Not complete: {count} of {planned(record)} runs.**", ""]
    lines += [
        f"`{' '.join(record['command'])}`, {record['date'][:10]}, revision "
        f"{record['revision']}, {machine['cpu']}, {machine.get('cores', '?')} "
        f"cores, {machine.get('kernel', '')}.",
        "",
        "Two hosts of `scripts/testbed` (network namespaces of one machine), "
        f"two emulated rails of {options['rate_mbit']} Mbit/s (tc). Rank 0 "
        f"sends messages of {size_name(options['bytes'])} "
        f"bytes, {options['window']} under way; rank 1 checks each byte. Each "
        f"run is a fresh launch with one fault of {options['outage_s']:g} s; "
        f"the faults of seed {options['seed']} are the same for each library, "
        "on one of the rails that it uses.",
        "",
        *table(HEADER, outcomes(record)), "",
        "Figures are medians of the runs that came to their end, with the "
        f"95 % interval of {ENOUGH} or more, else with their range.", "",
        *[f"- *{kind}*: {faults.WORDS[kind]}."
          for kind in options["kinds"]],
        *[f"- *{what}*: {judge.WORDS[what]}." for what in judge.OUTCOMES],
        "- *stall*: the longest time without a message, from the fault on.",
        f"- *settled*: from the fault, until the rate was {judge.HOLDS:.0%} "
        "of what the other rail had before, and stayed; `-`: not while the "
        "fault lasted. *rate meanwhile*: of the rate before.",
        f"- *back*: from the end of the fault until {judge.HOLDS:.0%} of the "
        "rate before.",
        "- *lost*: messages that never came, though no error was reported; "
        "*doubled*: that came again; *wrong*: with other bytes.", "",
        "## Settings", "",
        *table(("library", "version", "settings", "remark", "rails in use"),
               settings(record))]
    lines += ["", "The last commands, which run together on hosts n1 and n2:",
              "", "```", *[command for setup in record["configurations"]
                           for command in setup["commands"]], "```"]
    remarks = [*record["notes"], *reasons(record)]
    if remarks:
        lines += ["", "## Remarks", "", *[f"- {one}" for one in remarks]]
    return "\n".join(lines) + "\n"


def hidden(value, paths):
    """A record without paths of this machine."""
    if isinstance(value, dict):
        return {name: hidden(one, paths) for name, one in value.items()}
    if isinstance(value, list):
        return [hidden(one, paths) for one in value]
    return hide(value, paths) if isinstance(value, str) else value
