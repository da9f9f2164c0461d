# SPDX-License-Identifier: BSD-3-Clause
"""The page that railbench suite writes: what came out in sentences, then a
section for each step. It needs no other file."""
import csv
import html
import os
import platform
import re

from railtools.verdicts import verdicts

# Columns of the CSV that the report shows, where they differ or are figures.
SHOWN = ("what", "copy", "buffers", "threads", "cores", "lines", "rails",
         "engine", "policy", "algorithm", "call", "bytes", "latency_us",
         "each_us", "bandwidth_MBps", "pingpong_us", "post_us", "wait_us",
         "other_us", "limit_pct")

STYLE = """
body { font: 15px/1.5 sans-serif; max-width: 62em; margin: 2em auto;
       padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1em 0; font-size: 13px }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: right }
th { background: #f3f3f3 } th.key, td.key { text-align: left }
pre { overflow-x: auto; background: #f7f7f7; padding: 8px; font-size: 12px }
svg { max-width: 100%; height: auto } .failed { color: #b00020 }
"""


def inlined(path, number):
    """An SVG as a part of the page, its names unlike those of others."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"""\b(id=['"]|href=['"]#|url\(['"]?#)""",
                  rf"\g<1>p{number}-", text[text.index("<svg"):])
    return f"<figure>{text}</figure>"


def tag(name, text, kind=""):
    """An element whose content is text."""
    return (f"<{name}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>"
            f"{html.escape(str(text))}</{name}>")


def table(rows, header=()):
    """Rows of texts; what is no number is at the left."""
    def cells(name, row):
        return "".join(tag(name, cell, "" if re.fullmatch(
            r"[-+0-9.e %\[\],]+", str(cell)) else "key") for cell in row)
    return ("<table>" + (f"<tr>{cells('th', header)}</tr>" if header else "")
            + "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
            + "</table>")


def figure_text(row, name):
    """A figure with its interval."""
    def short(value):
        try:
            return f"{float(value):.4g}"
        except ValueError:
            return value
    low, high = row.get(name + "_lo"), row.get(name + "_hi")
    return short(row[name]) + (f" [{short(low)}, {short(high)}]"
                               if row[name] and low and high else "")


def csv_table(path):
    """The columns that tell most."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in SHOWN if any(row.get(name) for row in rows)]
    return table([[figure_text(row, name) for name in names] for row in rows],
                 names)


# The machine's memory, by the keys of results.
NAMES = {"l1_bytes": "L1 cache", "l2_bytes": "L2 cache",
         "l3_bytes": "L3 cache", "memory_bytes": "memory",
         "numa_nodes": "NUMA nodes"}


def memory_text(value):
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if value >= unit:
            return f"{value / unit:.4g} {name}"
    return f"{value} bytes"


def machine_rows(steps, folder):
    """As the first result tells it, else what is known here."""
    for step in steps:
        result = step.result(folder)
        if isinstance(result, dict) and "machine" in result:
            yield "dapl_rail", f"{result['version']} ({result['revision']})"
            for name, value in result["machine"].items():
                yield NAMES.get(name, name.replace("_", " ")), (
                    memory_text(value) if name.endswith("_bytes") else value)
            return
    yield "host", platform.node()
    yield "kernel", f"{platform.system()} {platform.release()}"


def is_distribution(name):
    return "-cdf" in name or "-box" in name


def section(step, folder, pictures):
    """@pictures: (name, element), the main one first."""
    yield f'<section id="{step.name}">' + tag("h2", step.name)
    yield tag("pre", step.told())
    if step.why:
        yield tag("p", f"FAILED: {step.why}", "failed")
    if step.name == "railinfo" or step.why:
        yield tag("pre", step.text) if step.text.strip() else ""
    else:
        result = step.result(folder)
        for sentence in verdicts(result):
            yield tag("p", sentence)
        main = [text for name, text in pictures if not is_distribution(name)]
        yield from main
        rest = [text for name, text in pictures if is_distribution(name)]
        if rest:
            yield "<details><summary>Distributions</summary>"
            yield from rest
            yield "</details>"
        for note in result.get("notes") or ():
            yield tag("p", f"Note: {note}.")
        if step.changes:
            yield "<details><summary>Compared with the earlier run</summary>"
            yield tag("pre", step.changes) + "</details>"
        yield "<details><summary>All figures, medians with their 95 % " \
            "intervals</summary>"
        yield csv_table(os.path.join(folder, step.name + ".csv"))
        yield "</details><details><summary>As railbench prints it</summary>"
        yield tag("pre", step.text) + "</details>"
    yield "</section>"


def summary(steps, folder):
    """A row for each step: a link to it, and what it says."""
    rows = []
    for step in steps:
        result = step.result(folder) if step.name != "railinfo" else None
        said = [f"failed: {step.why}"] if step.why else \
            verdicts(result) if isinstance(result, dict) else []
        rows.append(f'<tr><td class="key"><a href="#{step.name}">{step.name}'
                    f"</a></td>{tag('td', ' '.join(said), 'key')}"
                    f"{tag('td', f'{step.seconds:.0f} s')}</tr>")
    return "<table>" + "".join(rows) + "</table>"


def report(steps, folder, args, date, undrawn):
    failed = [step for step in steps if step.why]
    yield '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" ' \
        'lang="en"><head><meta charset="utf-8" />'
    yield f"<title>dapl_rail: {html.escape(platform.node())}, {date[:10]}" \
        f"</title><style>{STYLE}</style></head><body>"
    yield tag("h1", f"dapl_rail on {platform.node()}")
    yield tag("p", f"{date}; by: {args.told}")
    if args.quick:
        yield tag("p", "A quick run: a rough picture, no figures to quote.")
    for step in failed:
        yield tag("p", f"{step.name} failed: {step.why}", "failed")
    if undrawn:
        yield tag("p", f"Pictures are missing: {undrawn}", "failed")
    yield tag("h2", "In short") + summary(steps, folder)
    yield '<section id="machine">' + tag("h2", "Machine") + table(
        machine_rows(steps, folder)) + "</section>"
    number = 0
    for step in steps:
        pictures = []
        for name in sorted(os.listdir(folder), key=lambda name: (
                is_distribution(name), len(name), name)):
            if re.fullmatch(rf"{step.name}(-.*)?\.svg", name):
                number += 1
                pictures.append((name, inlined(os.path.join(folder, name),
                                               number)))
        yield from section(step, folder, pictures)
    yield "</body></html>\n"
