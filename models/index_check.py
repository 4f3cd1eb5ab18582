"""Index check: the indexes that its family has on the table of items."""

from sqlalchemy import Index, text
from sqlmodel import SQLModel

from models.item import Item

_items = SQLModel.metadata.tables[str(Item.__tablename__)]

#: What index jobs count (pipeline/kinds/index_check/jobs.py): else a list of a hundred reads a million URLs.
ITEM_INDEXES = (
    Index("item_indexed_idx", _items.c.job_id, postgresql_where=text("output->>'reason' = 'indexed'")),
    Index(
        "item_rate_limited_idx",
        _items.c.job_id,
        postgresql_where=text("state = 'failed' AND error->>'reason' = 'rate_limited'"),
    ),
)
