"""Try fields: the fields of a form, made from the request models of kinds."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from api.try_pages import Bulk, TryPage
from pipeline.kind import AnyKind
from pipeline.offers.offers import Offers
from pipeline.registry import Kinds

#: Longer texts get several lines.
LONGEST_LINE = 300
#: Controls by JSON Schema type, and attributes by keyword.
CONTROLS = {"string": "text", "integer": "number", "number": "number", "boolean": "tick"}
ATTRIBUTES = {"minimum": "min", "maximum": "max", "maxLength": "maxlength"}


@dataclass(frozen=True, slots=True)
class FormField:
    """A field as templates show it. `control` is text, url, area, number, tick, choice or file.

    `type` is how a script reads it: string, integer, number, boolean, lines (of a list of texts), json or file."""

    name: str
    label: str
    about: str
    control: str
    type: str
    kinds: tuple[str, ...]
    is_required: bool = False
    default: Any = None
    value: Any = None
    attributes: Mapping[str, Any] = field(default_factory=dict)
    choices: Sequence[tuple[str, str]] = ()
    #: The field in whose place a file may be sent.
    stands_for: str | None = None

    @property
    def is_optional(self) -> bool:
        """Return whether to mark it as optional; another field may replace a list."""
        return not self.is_required and self.default is None and self.type not in ("file", "lines")

    @property
    def default_json(self) -> str:
        """The default in JavaScript: 1 rather than 1.0."""
        whole = isinstance(self.default, float) and self.default.is_integer()
        return json.dumps(int(self.default) if whole else self.default, separators=(",", ":"), ensure_ascii=False)

    @property
    def shown(self) -> str:
        """The initial value."""
        value = self.default if self.value is None else self.value
        if value is None:
            return ""
        if self.type == "lines":
            return "\n".join(value)
        if self.type == "json":
            return json.dumps(value, indent=2, ensure_ascii=False)
        return f"{value:g}" if isinstance(value, float) else str(value)


def form_fields(page: TryPage, kinds: Kinds, offers: Offers) -> list[FormField]:
    """Return the fields of all kinds of a page, each once, files last."""
    found: dict[str, FormField] = {}
    for trial in page.trials:
        for one in (*_texts(page, kinds[trial.kind]), *_files(page, kinds[trial.kind])):
            known = found.get(one.name)
            found[one.name] = one if known is None else replace(known, kinds=(*known.kinds, trial.kind))
    bulk = page.bulk
    if bulk is not None and bulk.file not in found:
        more = {**_attributes(page, bulk.file), "data-only-many": "data-only-many"}
        label = page.labels.get(bulk.file, _label(bulk.file))
        first = next(iter(bulk.columns))
        kinds_of = tuple(trial.kind for trial in page.trials if first in kinds[trial.kind].request.model_fields)
        found[bulk.file] = FormField(bulk.file, label, "", "file", "file", kinds_of, attributes=more)
    return [_with_choices(page, one, offers) for one in found.values() if one.name not in page.hidden]


def _texts(page: TryPage, kind: AnyKind) -> Iterator[FormField]:
    schema = kind.request.model_json_schema()
    example: Mapping[str, Any] = getattr(kind, "example", {})
    for name, described in schema["properties"].items():
        if name in kind.files:
            continue
        one = _plain(described)
        control, read_as = _control(one)
        yield FormField(
            name=name,
            label=page.labels.get(name, _label(name)),
            about=page.abouts.get(name, described.get("description", "")),
            control=page.controls.get(name, control),
            type=read_as,
            kinds=(kind.name,),
            is_required=name in schema.get("required", ()),
            default=described.get("default"),
            value=example.get(name) if name in page.filled else page.starts.get(name),
            attributes={ATTRIBUTES[key]: one[key] for key in ATTRIBUTES if key in one},
            choices=[(choice, _label(choice)) for choice in one.get("enum", ())],
        )


def _files(page: TryPage, kind: AnyKind) -> Iterator[FormField]:
    for name in (*kind.files, *kind.uploads):
        yield FormField(
            name=name,
            label=page.labels.get(name, _label(name)),
            about="",
            control="file",
            type="file",
            kinds=(kind.name,),
            is_required=name in kind.files,
            attributes=_attributes(page, name),
            stands_for=kind.uploads.get(name),
        )


def _attributes(page: TryPage, name: str) -> dict[str, Any]:
    accepted = page.accepts.get(name)
    if page.bulk is not None and page.bulk.file == name:
        lists = Bulk.lists if page.bulk.columns else None
        return {"accept": ",".join(filter(None, (accepted, lists))), "multiple": "multiple"}
    return {"accept": accepted} if accepted else {}


def _plain(described: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of a field without its null."""
    options = [one for one in described.get("anyOf", ()) if one.get("type") != "null"]
    return options[0] if len(options) == 1 else described


def _control(schema: Mapping[str, Any]) -> tuple[str, str]:
    """Return a field's control and type."""
    if "enum" in schema:
        return "choice", "string"
    declared = schema.get("type")
    if declared == "array" and schema["items"].get("type") == "string":
        return "area", "lines"
    if declared not in CONTROLS:
        return "area", "json"
    if declared == "string" and schema.get("maxLength", LONGEST_LINE + 1) > LONGEST_LINE:
        return "area", "string"
    return CONTROLS[declared], declared


def _with_choices(page: TryPage, one: FormField, offers: Offers) -> FormField:
    if one.name not in page.choices:
        return one
    choices = page.choices[one.name](offers)
    # Before any engine has reported, anything may be entered.
    return replace(one, control="choice", choices=choices) if choices else one


def _label(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]
