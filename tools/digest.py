"""Measurements as they are committed: six digits, without what no reader needs, one record a line.

A digest is a run with its lists of records as tables:

    {"same": {...}, "columns": [...], "values": {...}, "rows": [[...], ...]}

"same" has the fields that are equal in all records; each row has a record's other fields, in the order of the columns.
"a.b" is the field b of a record's field a; "a[].b" has the b of each record in its list a. null: the record has no such
field. "values" has, for some columns of texts or lists, each value once; in the rows stands its index. Records by name
are a table, too, if many have the same fields: the column NAME has their names, and null is null. A part of a run that
equals an earlier one is {"as": "the earlier one's name"}. `tools.repository.read_json` gives the records back, so
programs read a run and its digest alike.
"""

import copy
import json
from typing import Any

Run = dict[str, Any]
DIGITS = 6
WIDTH = 120  # of a line, unless it is a record; no less is saved by indices
NAME, MANY = "", 8  # the column of records' names; fewer records are no table
# Fields of records that no page shows, that are no parameters, and that say nothing of the noise.
DROPPED = {
    "family",  # the stage's name begins with it
    "time_ms.launches_per_sample",
    "cublas_time_ms.min",
    "cublas_time_ms.p90",
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
    return isinstance(value, dict) and value.keys() | {"values"} == {"same", "columns", "values", "rows"}


def is_reference(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {"as"}


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
    values = {}
    for name in columns:
        if shorter := numbered([r.get(name) for r in found]):
            values[name], numbers = shorter
            found = [r | {name: number} for r, number in zip(found, numbers)]
    rows = [[r.get(name) for name in columns] for r in found]
    return {"same": same, "columns": columns, **({"values": values} if values else {}), "rows": rows}


def numbered(cells: list[Any]) -> tuple[list[Any], list[int | None]] | None:
    """The values of a column, each once, and its cells as indices of them; None if that saves less than a line."""
    if any(isinstance(cell, (int, float)) for cell in cells):
        return None
    values = {short(cell): cell for cell in cells if cell is not None}
    index = {text: n for n, text in enumerate(values)}
    found = list(values.values()), [None if cell is None else index[short(cell)] for cell in cells]
    return found if len(short(found)) + WIDTH < len(short(cells)) else None


def records_of(table: Run) -> list[Run]:
    values = table.get("values", {})
    named = NAME in table["columns"]  # all have the same fields
    records = []
    for row in table["rows"]:
        record = {}
        for name, cell in [*zip(table["columns"], row), *table["same"].items()]:
            if cell is not None or named:
                value = values[name][cell] if name in values and cell is not None else cell
                # A record may change what it was given, but not that of the others.
                put(record, name.split("."), copy.deepcopy(value))
        records.append(record)
    return records


def by_name(records: dict[str, Any]) -> Run | None:
    """A table of records that have names; None if they are few or not alike."""
    if len(records) < MANY or not all(isinstance(each, dict) and each for each in records.values()):
        return None
    if len({frozenset(fields(each)) for each in records.values()}) > 1:
        return None
    table = table_of([{NAME: name} | each for name, each in records.items()])
    return table if unfolded(table) == records else None


def unfolded(table: Run) -> list[Run] | Run:
    records = records_of(table)
    return {each.pop(NAME): each for each in records} if NAME in table["columns"] else records


def expanded(run: Any) -> Any:
    """A digest with its records; anything else as it is."""
    if not isinstance(run, dict):
        return run
    run = {key: copy.deepcopy(run[value["as"]]) if is_reference(value) else value for key, value in run.items()}
    return {key: unfolded(value) if is_table(value) else value for key, value in run.items()}


def digest(run: Run) -> Run:
    """Of a run, or of a digest, which does not change."""
    found = rounded(expanded(run))
    first: dict[str, str] = {}  # by a part's text the name of the first that is so
    for key, value in found.items():
        if is_records(value):
            found[key] = table_of(value)
        elif isinstance(value, dict) and (table := by_name(value)):
            found[key] = table
        elif isinstance(value, dict):
            reference = {"as": first.setdefault(short(value), key)}
            if reference["as"] != key and len(short(reference)) < len(short(value)):
                found[key] = reference
    return found


def short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def text_of(value: Any, indent: str = "") -> str:
    """As JSON, one record a line."""
    line = short(value)
    if not value or len(indent + line) <= WIDTH or not isinstance(value, (dict, list)):
        return line
    inner = indent + " "
    if isinstance(value, dict):
        lines: list[str] = []
        for key, each in value.items():
            entry = f"{short(key)}:{text_of(each, inner)}"
            if lines and len(f"{inner}{lines[-1]},{entry}") <= WIDTH:
                lines[-1] += f",{entry}"
            else:
                lines.append(entry)
        return "{\n" + ",\n".join(inner + line for line in lines) + f"\n{indent}}}"
    if not isinstance(value[0], (dict, list, str)):
        return line
    return "[\n" + ",\n".join(inner + short(each) for each in value) + f"\n{indent}]"
