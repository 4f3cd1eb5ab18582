"""`pressroom settings`: every setting, as an environment variable with its value and its default."""

from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from pydantic import BaseModel, SecretStr

from pipeline.settings.endpoints import EndpointSettings
from pipeline.settings.settings_sources import DEFAULT_FILE, NAMED, variable
from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.terminal import show_table, tell

HIDDEN = "***"
#: Settings that are also read without our prefix.
COMMON: dict[tuple[str, ...], str] = {("database_url",): "DATABASE_URL", ("redis_url",): "REDIS_URL"}


def settings(data: Data = None) -> None:
    """List all settings as environment variables, with values and differing defaults."""
    rows = list_variables(settings_for(data))
    show_table("Settings", ["variable", "value", "default", "meaning"], rows)
    tell(f"Set them in the environment, or in {DEFAULT_FILE}: PRESSROOM_API__PORT is port under [api] there.")


def list_variables(
    model: BaseModel, above: tuple[str, ...] = (), defaults: BaseModel | None = None
) -> list[tuple[str, str, str, str]]:
    """Return each setting's variable, value, default if it differs, and meaning; secrets are hidden.

    `defaults` are the group's, which may differ from its type's."""
    rows = []
    for name, field in type(model).model_fields.items():
        value, path = getattr(model, name), (*above, name)
        default = getattr(defaults, name) if defaults is not None else field.default
        if isinstance(value, BaseModel):
            rows += list_variables(value, path, default)
            continue
        if name == NAMED:
            for named, endpoint in (value or {"NAME": EndpointSettings.model_construct(url="")}).items():
                rows += list_variables(endpoint, (*path, named))
            continue
        changed_from = "" if value == default or field.is_required() else _shown(default) or "none"
        rows.append((COMMON.get(path) or variable(path), _shown(value), changed_from, field.description or ""))
    return rows


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, SecretStr):
        return HIDDEN if value else ""
    return _without_password(str(value)) if "://" in str(value) else str(value)


def _without_password(url: str) -> str:
    """Return a URL with stars for passwords, also in its query."""
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if ":" in user:
        user = f"{user.partition(':')[0]}:{HIDDEN}"
    query = [(name, HIDDEN if "password" in name.lower() else value) for name, value in parse_qsl(parts.query, True)]
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}", query=urlencode(query, safe="*/")))


register = under(SYSTEM, settings)
