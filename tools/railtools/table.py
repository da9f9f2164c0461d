# SPDX-License-Identifier: BSD-3-Clause
"""A result as a flat table."""
from railtools import results


def flat(value, prefix=""):
    """{name: value} with names as batch.latency_us.median; no lists."""
    found: dict = {}
    for key, one in value.items():
        if isinstance(one, dict):
            found |= flat(one, f"{prefix}{key}.")
        elif not isinstance(one, list):
            found[prefix + key] = one
    return found


def rows(result):
    """A dictionary for each row, with what its configuration says."""
    setups = {setup["index"]: setup
              for setup in result.get("configurations", ())}
    return [{"test": result["test"]}
            | flat(setups.get(row.get("configuration"), {})) | flat(row)
            for row in result.get("results", ())]


def load(path):
    """A pandas.DataFrame of a result (.json or .json.gz), if pandas is
    installed, else a list of dictionaries. ValueError: it is no result."""
    result = results.load(path)
    if result is None:
        raise ValueError(f"{path}: not a result of railbench")
    try:
        import pandas
    except ImportError:
        return rows(result)
    return pandas.DataFrame(rows(result))
