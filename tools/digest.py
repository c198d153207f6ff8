"""Measurements as they are committed: six digits, without what no reader needs, one record a line.

A digest is a run with its lists of records as tables:

    {"same": {...}, "columns": [...], "rows": [[...], ...]}

"same" has the fields that are equal in all records; each row has a record's other fields, in the order of the columns.
"a.b" is the field b of a record's field a; "a[].b" has the b of each record in its list a. null: the record has no such
field. `tools.repository.read_json` gives the records back, so programs read a run and its digest alike.
"""

import json
from typing import Any

Run = dict[str, Any]
DIGITS = 6
WIDTH = 120  # of a line, unless it is a record
# Fields of records that no page shows, that are no parameters, and that say nothing of the noise.
DROPPED = {
    "family",  # the stage's name begins with it
    "time_ms.launches_per_sample",
    "cublas_time_ms.samples",
    "cublas_time_ms.launches_per_sample",
    "cublas_time_ms.throttled_samples",
    # Of a size in a search: what the time and the shape say, and of each model what its losses say.
    "best.gbytes_s",
    "models[].kernels",
    "models[].ms",
}


def rounded(value: Any) -> Any:
    """With six significant digits; whole numbers stay exact."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    if isinstance(value, float):
        near = value if value.is_integer() else float(f"{value:.{DIGITS}g}")
        return int(near) if near.is_integer() else near
    return value


def fields(record: Run) -> Run:
    """A record's fields by their whole names."""
    found = {}
    for key, value in record.items():
        if isinstance(value, dict) and value and not any("." in name for name in value):
            found |= {f"{key}.{name}": each for name, each in fields(value).items()}
            continue
        if is_records(value):
            parts = list(map(fields, value))
            if all(part.keys() == parts[0].keys() for part in parts):
                found |= {f"{key}[].{name}": [part[name] for part in parts] for name in parts[0]}
                continue
        found[key] = value
    return found


def put(record: Run, path: list[str], value: Any) -> None:
    """Undoes fields() for one of them."""
    key, *rest = path
    if not rest:
        record[key] = value
    elif key.endswith("[]"):
        for part, each in zip(record.setdefault(key.removesuffix("[]"), [{} for _ in value]), value):
            put(part, rest, each)
    else:
        put(record.setdefault(key, {}), rest, value)


def is_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def is_table(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"same", "columns", "rows"}


def in_order(names: list[str]) -> list[str]:
    """As they come first, but fields of one field side by side, as they are in a record."""
    first: dict[str, int] = {}

    def key(name: str) -> list[int]:
        parts = name.split(".")
        return [first.setdefault(".".join(parts[: n + 1]), len(first)) for n in range(len(parts))]

    return sorted(names, key={name: key(name) for name in names}.__getitem__)


def table_of(records: list[Run]) -> Run:
    found = [{name: value for name, value in fields(r).items() if name not in DROPPED} for r in records]
    names = in_order(list(dict.fromkeys(name for r in found for name, value in r.items() if value is not None)))
    first = found[0]
    same = {
        name: first[name]
        for name in sorted(names)
        if first.get(name) is not None and all(r.get(name) == first[name] for r in found)
    }
    columns = [name for name in names if name not in same]
    return {"same": same, "columns": columns, "rows": [[r.get(name) for name in columns] for r in found]}


def records_of(table: Run) -> list[Run]:
    records = []
    for row in table["rows"]:
        record = {}
        for name, value in [*zip(table["columns"], row), *table["same"].items()]:
            if value is not None:
                # A record may change what it was given, but not that of the others.
                put(record, name.split("."), list(value) if isinstance(value, list) else value)
        records.append(record)
    return records


def expanded(run: Any) -> Any:
    """A digest with its records; anything else as it is."""
    if not isinstance(run, dict):
        return run
    return {key: records_of(value) if is_table(value) else value for key, value in run.items()}


def digest(run: Run) -> Run:
    """Of a run, or of a digest, which does not change."""
    found = rounded(expanded(run))
    return {key: table_of(value) if is_records(value) else value for key, value in found.items()}


def text_of(value: Any, indent: str = "") -> str:
    """As JSON, one record a line."""
    short = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not value or len(indent + short) <= WIDTH or not isinstance(value, (dict, list)):
        return short
    inner = indent + " "
    if isinstance(value, dict):
        lines = [f"{json.dumps(key, ensure_ascii=False)}:{text_of(each, inner)}" for key, each in value.items()]
        return "{\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}}}"
    if not isinstance(value[0], (dict, list)):
        return short
    lines = [json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in value]
    return "[\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}]"
