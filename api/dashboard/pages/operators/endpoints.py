"""Endpoints: an operator adds a model server, has it tried again, and removes it. A key is sealed, and never shown."""

from typing import Any

from pydantic import ValidationError

from api.dashboard.forms import Form, OperatorForm
from api.services.services import Services
from pipeline.accounts.secret_box import SecretBox
from pipeline.errors import Conflict, InvalidRequest, NotFound
from pipeline.offers.offers import read_offers
from pipeline.operations.endpoints import forget_offers, read_stored, remove, store, try_again
from pipeline.operations.metrics import HASH, TOKENS, read_sums
from pipeline.settings.endpoints import NAME, SENT, EndpointSettings
from pipeline.wakes.redis_away import REDIS_AWAY

#: Fields of the form that are left out where nothing was written.
FIELDS = ("url", *SENT, "voices", "slots")


class Endpoints(OperatorForm):
    """POST /dashboard/operators/endpoints."""

    page = "/dashboard/operators/engines#endpoints"
    event, logged = "endpoint changed", ("change", "name")

    async def change(self, form: Form) -> str:
        run, name = self._services.database.run, form.text("name")
        match form.text("change"):
            case "add":
                return await self._add(form, name)
            case "try" if await run(try_again(name)):
                return f"Each pool asks {name} now; its state below is renewed within seconds."
            case "remove" if await run(remove(name)):
                await run(forget_offers([name]))
                return f"{name} and its key are removed. Pools leave it within seconds."
            case "try" | "remove":
                raise NotFound(f"No endpoint {name[:40]!r} was added here. Remove others in the file or environment.")
            case other:
                raise InvalidRequest(f"There is no change {other[:20]!r}.")

    async def _add(self, form: Form, name: str) -> str:
        endpoint, key = read_endpoint(form), form.text("key")
        offered = {offer.engine for offer in await self._services.database.run(read_offers())}
        if not NAME.fullmatch(name):
            raise InvalidRequest(f"{name[:40]!r} is not a valid name: use up to 32 lowercase letters, digits and _.")
        if name in offered or name in self._services.settings.endpoints:
            raise Conflict(f"There is an engine {name} already. Give the endpoint another name.")
        sealed = SecretBox(self._services.settings).seal(key.encode()) if key else None
        if not await self._services.database.run(store(name, endpoint, sealed)):
            raise Conflict(f"There is an endpoint {name} already. Remove it first, or take another name.")
        return f"{name} is added. Each pool tries it within seconds; its state is shown below."


RESOURCES = {"/dashboard/operators/endpoints": Endpoints}


def read_endpoint(form: Form) -> EndpointSettings:
    """Return the endpoint in a form, without its key. Raises InvalidRequest, which quotes nothing that was sent."""
    sent = {name: text for name in FIELDS if (text := form.text(name))}
    if not sent.keys() & SENT.keys():
        raise InvalidRequest(f"Name a model for at least one use: {', '.join(SENT)}.")
    try:
        return EndpointSettings.model_validate(sent)
    except ValidationError as error:
        fault = error.errors(include_input=False, include_context=False, include_url=False)[0]
        field = ".".join(map(str, fault["loc"]))
        if field == "url":
            raise InvalidRequest(
                "The address has to begin with http:// or https:// and end with /v1, such as"
                " http://localhost:11434/v1, without a user, a password or parameters."
            ) from None
        raise InvalidRequest(f"{field}: {fault['msg']}.") from None


async def list_endpoints(services: Services) -> list[dict[str, Any]]:
    """Return all endpoints that this process knows, for the page: uses, host, and tokens so far by use."""
    tokens = await _tokens(services)
    stored = await services.database.run(read_stored())
    known: dict[str, tuple[dict[str, Any], bool]] = {one.name: (dict(one.settings), True) for one in stored}
    known |= {name: (dict(one), False) for name, one in services.settings.endpoints.items()}
    return [
        {
            "name": name,
            "host": str(own.get("url", "")).partition("//")[2].partition("/")[0],
            "models": {use: own[use] for use in SENT if own.get(use)},
            "sent": [SENT[use] for use in SENT if own.get(use)],
            "is_stored": is_stored,
            "tokens": tokens.get(name, {}),
        }
        for name, (own, is_stored) in sorted(known.items())
    ]


async def _tokens(services: Services) -> dict[str, dict[str, float]]:
    """Return the tokens of delivered items by engine and use, since Redis has counted; none while it is away."""
    found: dict[str, dict[str, float]] = {}
    try:
        sums = read_sums(await services.client.hgetall(HASH))
    except REDIS_AWAY:
        return found
    for one in sums:
        if one.name == TOKENS:
            found.setdefault(one.labels["engine"], {})[one.labels["use"]] = one.value
    return found
