"""Resource: what answers a route; Falcon calls `on_get`, `on_head` and `on_post` of it."""

from api.services.services import Services


class Resource:
    """One that uses the services of its process."""

    def __init__(self, services: Services) -> None:
        self._services = services
