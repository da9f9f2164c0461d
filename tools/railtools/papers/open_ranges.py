# SPDX-License-Identifier: BSD-3-Clause
"""What platform files leave open: `open: LOW to HIGH UNIT` behind a key, or in
the lines before it; numbers have no unit. Not a program."""
import re

NUMBER = r"(\d+(?:\.\d+)?)"
RANGE = re.compile(rf"open: {NUMBER} to {NUMBER}(?: (\S+)|$)")
# What several take together. A range of it is one of the latency, or, without
# that, of the last; when another of them goes to an end of its range, that one
# takes up the rest.
SUM = re.compile(rf"open: (\w+(?: \+ \w+)+) is {NUMBER}(?: to {NUMBER})? (us)")
KEY = re.compile(r"(\w+) = ([^#]*[^#\s])")


def keys(text):
    """(index of the line, kind of section, key, value, comments) of each;
    @comments: those on its line, and on the lines before it."""
    section, before = None, ""
    for index, line in enumerate(text.splitlines()):
        content, _, comment = line.partition("#")
        found = KEY.match(content.strip())
        if content.strip().startswith("["):
            section = content.strip()[1:-1].split()[0]
            before += " " + comment
        elif found:
            yield index, section, *found.groups(), before + " " + comment
            before = ""
        elif comment:
            before += " " + comment.strip()


def number(value):
    """Of "1.5 us": 1.5."""
    return float(value.split()[0])


def sums(text):
    """[(names, least, most, unit)] in the file, the one that takes up the rest
    last; @most: None is no range."""
    found = []
    for line in text.splitlines():
        whole = SUM.search(line.partition("#")[2])
        if whole:
            names = sorted(whole[1].split(" + "),
                           key=lambda name: name == "latency")
            found.append((names, *whole.groups()[1:]))
    return found


def values(text):
    """{key: value} of those in sums, of the first section that has each."""
    names = {name for one in sums(text) for name in one[0]}
    found: dict = {}
    for _, section, key, value, _ in keys(text):
        if key in names:
            found.setdefault(key, (section, value))
    return found


def ranges(text):
    """{(section, key, value): (low, high)}: whatever has this value there is
    open, with the values at both ends."""
    found, parts = {}, values(text)
    for names, low, high, unit in sums(text):
        names = [name for name in names if name in parts]
        if high and names:
            section, value = parts[names[-1]]
            rest = sum(number(parts[name][1]) for name in names[:-1])
            found[section, names[-1], value] = tuple(
                f"{max(0.0, float(end) - rest):.10g} {unit}"
                for end in (low, high))
    for _, section, key, value, comment in keys(text):
        stated = RANGE.search(comment)
        if stated:
            low, high, unit = stated.groups("")
            unit = unit.rstrip(",;)")
            found[section, key, value] = tuple(
                f"{float(end):.10g} {unit}".strip() for end in (low, high))
    return found


def replaced(lines, index, old, new):
    lines[index] = lines[index].replace(f"= {old}", f"= {new}", 1)


def rest(text, what, value):
    """{key: by how much its value grows} when @what gets another one."""
    return {names[-1]: number(what[2]) - number(value)
            for names, *_ in sums(text)
            if what[1] in names[:-1]}


def changed(text, what, value):
    """The file with another value for @what, in all sections of its kind; of
    rates for 1, 2 … copies, the first is changed, and none is less. A limit of
    both directions together that is the same stays so, and so does a sum."""
    lines, more = text.splitlines(), rest(text, what, value)
    for index, section, key, old, _ in keys(text):
        same = section == what[0] and old == what[2] and \
            key in (what[1], f"duplex_{what[1]}")
        if same:
            new = value
            if "," in old:
                first = number(value)
                new = ", ".join([value] + [
                    rate.strip() if number(rate) > first else value
                    for rate in old.split(",")[1:]])
            replaced(lines, index, old, new)
        elif key in more:
            unit = old.split()[1]
            replaced(lines, index, old,
                     f"{max(0.0, number(old) + more[key]):g} {unit}")
    return "\n".join(lines) + "\n"
