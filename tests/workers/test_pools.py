"""The pools that the project declares, and the kinds that its capabilities have."""

from functools import reduce

from pipeline.registry import own_kinds
from pipeline.settings import Settings
from workers.pools import POOLS


def test_each_kind_is_served_by_the_pool_that_lists_its_capability() -> None:
    served = {(type(kind).__module__.split(".")[1], kind.queue) for kind in own_kinds()}

    assert served == {(capability, queue) for queue, pool in POOLS.items() for capability in pool.serves}


def test_the_settings_that_pools_name_are_there() -> None:
    for pool in POOLS.values():
        for name in pool.slots:
            assert reduce(getattr, name.split("."), Settings()) > 0
