# SPDX-License-Identifier: BSD-3-Clause
"""Files of results: written whole or not at all, without paths of the machine."""
import contextlib
import csv
import gzip
import io
import os
import threading

from railtools.options import wrong


def replace(path, text):
    """Writes a file of which the old one is left until the new one is whole.
    Several may do so at once: the last one's is left. Compressed, if it is to
    end in .gz: the same text always gives the same bytes."""
    new = f"{path}.{os.getpid()}.{threading.get_ident()}.new"
    content = text.encode(errors="replace")  # names of hosts are bytes
    if path.endswith(".gz"):
        content = gzip.compress(content, mtime=0)
    try:
        with open(new, "wb") as file:
            file.write(content)
        os.replace(new, path)
    finally:
        with contextlib.suppress(OSError):
            os.remove(new)


def csv_text(rows):
    """Of rows of which the first has the names of the columns."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def hide(text, paths):
    """Without paths of this machine: {path: what it is called}."""
    for path, name in paths.items():
        text = text.replace(path, name)
    return text


def claim(path):
    """Makes a folder that nobody else has. mkdir without -p tells."""
    base = os.path.normpath(path)  # without a slash at its end
    number, name = 1, base
    try:
        os.makedirs(os.path.dirname(os.path.abspath(base)), exist_ok=True)
        while True:
            try:
                os.mkdir(name)
                return name
            except FileExistsError:
                number += 1
                name = f"{base}-{number}"
    except OSError as error:
        return wrong(f"DIR: '{path}' is wrong: {error.strerror}; allowed: a "
                     "folder that can be created")


def leave(folder):
    """Takes away a folder that was claimed, if nothing is in it."""
    with contextlib.suppress(OSError):
        os.rmdir(folder)
