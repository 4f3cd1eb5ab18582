"""Installing: the command that adds optional packages where this program runs, as people can copy it."""

import sys
from pathlib import Path

#: The folder that holds our packages: a clone, or site-packages.
ROOT = Path(__file__).resolve().parents[2]


def install_command(extra: str) -> str:
    """Return the command that installs an extra of pyproject.toml: into a clone's own environment, or by name."""
    if not (ROOT / "pyproject.toml").exists():
        return f"pip install 'pressroom[{extra}]'"
    own = Path(sys.prefix)
    # An environment elsewhere is not named: where it is says something of the machine, and messages go to users too.
    pip = f"{own.relative_to(ROOT)}/bin/pip" if own.is_relative_to(ROOT) else "pip"
    return f"{pip} install -e '.[{extra}]'"
