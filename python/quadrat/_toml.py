"""Studies as dicts, written as the text of a study file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from ._errors import DataError


def text(study):
    """The text of a study; keys whose value is `None` are left out."""
    lines, sections = [], []
    for key, value in study.items():
        if isinstance(value, Mapping):
            sections += ["", f"[{_key(key)}]", *_pairs(value)]
        elif _is_list(value) and value and all(isinstance(one, Mapping) for one in value):
            for one in value:
                sections += ["", f"[[{_key(key)}]]", *_pairs(one)]
        elif value is not None:
            lines.append(f"{_key(key)} = {_value(value, key)}")
    return "\n".join(lines + sections) + "\n"


def _pairs(table):
    return [f"{_key(key)} = {_value(value, key)}" for key, value in table.items()
            if value is not None]


def _is_list(value):
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _key(key):
    plain = key and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in key)
    return key if plain else _quoted(key)


def _quoted(value):
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    def one(letter):
        if letter in escapes:
            return escapes[letter]
        return f"\\u{ord(letter):04x}" if ord(letter) < 32 or ord(letter) == 127 else letter
    return '"' + "".join(map(one, value)) + '"'


def _value(value, key):
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "true" if value else "false"
    if isinstance(value, (str, os.PathLike)):
        return _quoted(os.fspath(value))
    if isinstance(value, Mapping):
        return "{ " + ", ".join(_pairs(value)) + " }" if value else "{}"
    if hasattr(value, "tolist"):
        return _value(value.tolist(), key)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return {"inf": "inf", "-inf": "-inf", "nan": "nan"}.get(str(value), repr(value))
    if _is_list(value):
        return "[" + ", ".join(_value(one, key) for one in value) + "]"
    raise DataError(f"the study's `{key}` is {type(value).__name__}, which a study file has not")
