"""Members: changes of an account's people, shared by the pages that make them."""

from api.services.services import Services
from pipeline.accounts.people import MAX_NAME, Member, list_people, remove_person, set_role
from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import Session
from pipeline.errors import Conflict, InvalidRequest, NotFound


class LastOwner(Conflict):
    """The account would have no owner, or the person who changes its people is no longer one."""

    code = "last_owner"
    message = "An account needs an owner, and only owners change its people. Make somebody else an owner first."


def read_name(name: str) -> str:
    """Return a person's name. Raises InvalidRequest."""
    if not 0 < len(name) <= MAX_NAME or not name.isprintable():
        raise InvalidRequest(
            f"The name has {len(name)} characters; it has to have 1 to {MAX_NAME}, on one line.", code="name_invalid"
        )
    return name


def read_role(text: str) -> Role:
    """Return a role. Raises InvalidRequest."""
    try:
        return Role(text)
    except ValueError:
        raise InvalidRequest(f"There is no role {text[:20]!r}; choose {', '.join(Role)}.") from None


async def find_member(services: Services, session: Session, person_id: str) -> Member:
    """Return a person of the session's account. Raises NotFound."""
    people = await services.database.run(list_people(session.account_id))
    found = next((one for one in people if str(one.id) == person_id), None)
    if found is None:
        raise NotFound("There is no such person in this account.", code="person_not_found")
    return found


async def change_role(services: Services, session: Session, person_id: str, role: Role) -> Member:
    """Give a person another role, from their next request on. Raises NotFound, LastOwner."""
    member = await find_member(services, session, person_id)
    _, changed, _ = await services.database.run_together(set_role(session.caller.actor, member, role))
    if not changed:
        raise LastOwner
    return member


async def remove(services: Services, session: Session, person_id: str) -> Member:
    """Take a person out of the account, with their sessions and the keys that end with them.

    Raises NotFound, LastOwner."""
    member = await find_member(services, session, person_id)
    *_, removed, keys = await services.database.run_together(remove_person(session.caller.actor, member))
    if not removed:
        raise LastOwner
    for key_id in keys:
        services.authenticator.forget(key_id)
    return member
