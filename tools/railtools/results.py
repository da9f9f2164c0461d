# SPDX-License-Identifier: BSD-3-Clause
"""Reading results of railbench and of the comparisons."""
import gzip
import json
import os
import zlib

SCHEMA = "dapl_rail.railbench/1"
P2P_SCHEMA = "dapl_rail.p2p/1"  # scripts/compare-p2p, of the same form
ENDINGS = (".json", ".json.gz")


class Unreadable(ValueError):
    """A file that should be a result, and is not."""


def load(path):
    """The result in a file, or None if it is something else. Unreadable:
    neither."""
    try:
        with open(path, "rb") as file:
            text = file.read()
        if text.startswith(b"\x1f\x8b") or path.endswith(".gz"):
            text = gzip.decompress(text)
        result = json.loads(text.decode("utf-8", errors="replace"))
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise Unreadable(
            f"{path}: not compressed by gzip: {error}") from None
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Unreadable(f"{path}: not JSON: {error}") from None
    if isinstance(result, dict) and result.get("schema") in (
            SCHEMA, P2P_SCHEMA):
        return result
    return None


def find(arguments):
    """All (path, result) that the arguments name."""
    found = []
    for argument in arguments:
        if not os.path.isdir(argument):
            result = load(argument)
            if result is None:
                raise Unreadable(
                    f"{argument}: not a result of railbench ({SCHEMA})")
            found.append((argument, result))
            continue
        for folder, _, names in sorted(os.walk(argument)):
            for name in sorted(names):
                path = os.path.join(folder, name)
                result = load(path) if name.endswith(ENDINGS) else None
                if result is not None:
                    found.append((path, result))
    return found
