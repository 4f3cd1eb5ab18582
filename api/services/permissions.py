"""Permissions: the role that a signed-in person needs for each page and route. Keys are not asked for a role."""

from collections.abc import Mapping
from functools import cache

from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import Session
from pipeline.errors import Forbidden

#: Methods that change nothing.
SAFE_METHODS = frozenset(("GET", "HEAD", "OPTIONS"))
#: The role for reading a path and what is below it. Everybody may read the rest.
READING: Mapping[str, Role] = {
    "/account/audit": Role.OWNER,
    "/dashboard/indexing/new": Role.EDITOR,
    "/dashboard/indexing/sites": Role.OWNER,
    "/dashboard/keys": Role.OWNER,
    "/dashboard/operators": Role.OWNER,
    "/dashboard/people": Role.OWNER,
    "/dashboard/try": Role.EDITOR,
    "/dashboard/webhooks": Role.EDITOR,
    "/keys": Role.OWNER,
    "/webhooks": Role.OWNER,
    "/webhooks/deliveries": Role.EDITOR,
}
#: The role for changing what is at a path and below it. Editors may change the rest.
CHANGING: Mapping[str, Role] = {
    "/dashboard/account": Role.VIEWER,  # their own e-mail, password and sessions
    "/dashboard/indexing/sites": Role.OWNER,
    "/dashboard/keys": Role.OWNER,
    "/dashboard/operators": Role.OWNER,
    "/dashboard/people": Role.OWNER,
    "/dashboard/sign-out": Role.VIEWER,
    "/dashboard/sites": Role.OWNER,  # takes a password
    "/dashboard/sites/{site_id}": Role.EDITOR,
    "/dashboard/sites/{site_id}/remove": Role.OWNER,  # an action of the page before
    "/dashboard/webhooks": Role.OWNER,
    "/dashboard/webhooks/{delivery_id}": Role.EDITOR,
    "/keys": Role.OWNER,
    "/verify": Role.VIEWER,  # reads a file
    "/webhooks": Role.OWNER,
    "/webhooks/deliveries": Role.EDITOR,
}


class RoleInsufficient(Forbidden):
    """The person's role in the account doesn't allow this."""

    code = "role_insufficient"


def needed_role(method: str, path: str) -> Role:
    """Return the least role for a method and a path, or the template of one."""
    is_safe = method in SAFE_METHODS
    return _needed(path, is_safe=is_safe)


@cache
def _of_table(*, is_safe: bool) -> list[tuple[list[str], Role]]:
    """Return the rules, those of longer paths first."""
    rules = READING if is_safe else CHANGING
    return sorted(((path.split("/"), role) for path, role in rules.items()), key=lambda rule: -len(rule[0]))


def _needed(path: str, *, is_safe: bool) -> Role:
    parts = path.partition("?")[0].split("/")
    for rule, role in _of_table(is_safe=is_safe):
        if len(rule) <= len(parts) and all(_fits(*pair) for pair in zip(rule, parts, strict=False)):
            return role
    return Role.VIEWER if is_safe else Role.EDITOR


def _fits(rule: str, part: str) -> bool:
    return rule == part or rule.startswith("{")


def may(session: Session, path: str, method: str = "POST") -> bool:
    """Return whether a person may use a path, for pages that leave out what they may not."""
    return session.role.includes(needed_role(method, path))


def require_role(session: Session, method: str, path: str) -> None:
    """Refuse a request that the person's role doesn't allow. Raises RoleInsufficient."""
    needed = needed_role(method, path)
    if not session.role.includes(needed):
        raise RoleInsufficient(
            f"You are {_named(session.role)} of {session.account_name}; this needs {_named(needed)}."
            " An owner of the account can change your role."
        )


def _named(role: Role) -> str:
    return f"{'a' if role is Role.VIEWER else 'an'} {role}"
