"""`pressroom settings`: every setting, as an environment variable with its value."""

from pydantic import BaseModel, SecretStr

from scripts.commands import SYSTEM, under
from scripts.options import Data, settings_for
from scripts.terminal import show_table


def settings(data: Data = None) -> None:
    """List all settings, as environment variables with their values."""
    rows = list_variables(settings_for(data), "PRESSROOM_")
    show_table("Settings", ["variable", "value", "meaning"], rows)


def list_variables(model: BaseModel, prefix: str) -> list[tuple[str, str, str]]:
    """Return variable, value and meaning of each setting; secrets, and URLs, which may hold one, are masked."""
    rows = []
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            rows += list_variables(value, f"{prefix}{name.upper()}__")
            continue
        variable = name.upper() if name in {"database_url", "redis_url"} else f"{prefix}{name.upper()}"
        shown = "***" if value and (isinstance(value, SecretStr) or variable.endswith("_URL")) else value
        rows.append((variable, "" if shown is None else str(shown), field.description or ""))
    return rows


register = under(SYSTEM, settings)
