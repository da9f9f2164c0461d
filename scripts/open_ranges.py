# SPDX-License-Identifier: BSD-3-Clause
"""What platform files leave open: `open: LOW to HIGH UNIT` behind a key, or in
the lines before it. Not a program."""
import re

NUMBER = r"(\d+(?:\.\d+)?)"
RANGE = re.compile(rf"open: {NUMBER} to {NUMBER} (\S+)")
# a range of what a message takes in all is one of the latency
SUM = re.compile(r"open: post \+ latency \+ notification is "
                 rf"{NUMBER} to {NUMBER} (us)")
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


def ranges(text):
    """{(section, key, value): (low, high)}: whatever has this value there is
    open, with the values at both ends."""
    found = {}
    messages = {key: value for _, section, key, value, _ in keys(text)
                if section == "message"}
    for _, section, key, value, comment in keys(text):
        whole = SUM.search(comment)
        if whole and key == "latency":
            rest = sum(number(messages.get(part, "0 us"))
                       for part in ("post", "notification"))
            ends = [max(0.0, float(end) - rest) for end in whole.groups()[:2]]
            unit = whole[3]
        elif RANGE.search(comment):
            low, high, unit = RANGE.search(comment).groups()
            ends, unit = [float(low), float(high)], unit.rstrip(",;)")
        else:
            continue
        found[section, key, value] = tuple(f"{end:g} {unit}" for end in ends)
    return found


def changed(text, what, value):
    """The file with another value for @what, in all sections of its kind; of
    rates for 1, 2 … copies, the first is changed, and none is less. A limit of
    both directions together that is the same stays so."""
    lines = text.splitlines()
    for index, section, key, old, _ in keys(text):
        same = section == what[0] and old == what[2] and \
            key in (what[1], f"duplex_{what[1]}")
        if same:
            new = value
            if "," in old:
                first = number(value)
                new = ", ".join([value] + [
                    more.strip() if number(more) > first else value
                    for more in old.split(",")[1:]])
            lines[index] = lines[index].replace(f"= {old}", f"= {new}", 1)
    return "\n".join(lines) + "\n"
