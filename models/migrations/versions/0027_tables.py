"""The first tables; migrations 1 to 26 made them step by step, and no release had those."""

from pathlib import Path

from alembic import op

revision = "0027"
down_revision = None


def upgrade() -> None:
    op.get_bind().exec_driver_sql(Path(__file__).with_suffix(".sql").read_text("utf-8"))
