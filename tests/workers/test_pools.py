"""The pools that the project declares."""

from pipeline.registry import own_kinds
from workers.pools import POOLS


def test_each_kind_is_served_by_the_pool_that_lists_its_capability() -> None:
    served = {(type(kind).__module__.split(".")[1], kind.queue) for kind in own_kinds()}

    assert served == {(capability, queue) for queue, pool in POOLS.items() for capability in pool.serves}
