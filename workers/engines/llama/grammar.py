"""Grammar: a JSON schema as llama.cpp's GBNF, compact, so that a model can't fill an answer with white space.

llama.cpp's own translation needs its library in this process, and allows any number of spaces and line breaks."""

import json
from collections.abc import Mapping
from typing import Any

_CHARACTER = r'([^"\\\x7F\x00-\x1F] | "\\" ["\\/bfnrt])'


def grammar_of(schema: Mapping[str, Any]) -> str:
    """Return the grammar of an object, array, enum or string; lengths of strings and arrays must be bounded."""
    return f"root ::= {_rule(schema)}\n"


def _rule(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "(" + " | ".join(_literal(json.dumps(value, ensure_ascii=False)) for value in schema["enum"]) + ")"
    if schema["type"] == "string":
        return rf'"\"" {_CHARACTER}{{{schema["minLength"]},{schema["maxLength"]}}} "\""'
    if schema["type"] == "array":
        item = _rule(schema["items"])
        return f'"[" {item} ({_literal(", ")} {item}){{{schema["minItems"] - 1},{schema["maxItems"] - 1}}} "]"'
    parts = [
        f"{_literal(('' if place == 0 else ', ') + json.dumps(name) + ': ')} {_rule(field)}"
        for place, (name, field) in enumerate(schema["properties"].items())
    ]
    return f'"{{" {" ".join(parts)} "}}"'


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
