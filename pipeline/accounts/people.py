"""People: who is in an account, in which role; invited by a link, joined, and removed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from pipeline.accounts.accounts import lock_account
from pipeline.accounts.audit import Action, Actor, noted
from pipeline.accounts.roles import Role
from pipeline.accounts.sessions import hash_token
from pipeline.database import SQL, Row, Statement, nothing, row_of, rows_of

#: Longest name of a person.
MAX_NAME = 100


@dataclass(frozen=True, slots=True)
class Member:
    """A person of an account; `last_seen_at` is None while they have no session there."""

    id: UUID
    name: str
    email: str | None
    role: Role
    created_at: datetime
    last_seen_at: datetime | None


@dataclass(frozen=True, slots=True)
class Membership:
    """An account that a person may open."""

    account_id: UUID
    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Invitation:
    """An open invitation; `is_known`: its e-mail belongs to somebody who signs in already."""

    account_id: UUID
    account_name: str
    email: str
    role: Role
    expires_at: datetime
    is_known: bool


def list_people(account_id: UUID) -> Statement[list[Member]]:
    """Read the people of an account, oldest first."""
    return Statement(
        "SELECT p.id, p.name, p.email, m.role, m.created_at, (SELECT max(s.last_seen_at) FROM session s"
        " WHERE s.person_id = p.id AND s.account_id = m.account_id) AS last_seen_at"
        " FROM membership m JOIN person p ON p.id = m.person_id WHERE m.account_id = %(account)s"
        " ORDER BY m.created_at, p.id",
        {"account": account_id},
        lambda rows: [Member(**{**row, "role": Role(row["role"])}) for row in rows],
    )


def list_memberships(person_id: UUID) -> Statement[list[Membership]]:
    """Read the accounts that a person may open, by name."""
    return Statement(
        "SELECT a.id AS account_id, a.name, m.role FROM membership m JOIN account a ON a.id = m.account_id"
        " WHERE m.person_id = %(person)s AND a.suspended_at IS NULL ORDER BY a.name, a.id",
        {"person": person_id},
        rows_of(Membership),
    )


def rename_person(person_id: UUID, name: str) -> Statement[None]:
    return Statement(
        "UPDATE person SET name = %(name)s WHERE id = %(person)s RETURNING 1 AS named",
        {"person": person_id, "name": name},
        nothing,
    )


#: The condition that an account keeps an owner without the one whose membership is changed.
_OTHER_OWNER = SQL(
    "(m.role <> 'owner' OR EXISTS (SELECT FROM membership o WHERE o.account_id = m.account_id AND o.role = 'owner'"
    " AND o.person_id <> m.person_id))"
)
#: The condition that the person who changes an account's people is still its owner; the `pressroom` command is nobody.
_IS_OWNER = SQL(
    "(%(by)s::uuid IS NULL OR EXISTS (SELECT FROM membership b WHERE b.account_id = %(account)s"
    " AND b.person_id = %(by)s AND b.role = 'owner'))"
)
_SET_ROLE = SQL(
    "UPDATE membership m SET role = %(role)s WHERE m.account_id = %(account)s AND m.person_id = %(person)s"
    " AND {is_owner} AND (%(role)s = 'owner' OR {other}) RETURNING m.role"
).format(is_owner=_IS_OWNER, other=_OTHER_OWNER)
_REMOVE = SQL(
    "DELETE FROM membership m WHERE m.account_id = %(account)s AND m.person_id = %(person)s"
    " AND ({is_owner} OR m.person_id = %(by)s) AND {other} RETURNING 1 AS gone"
).format(is_owner=_IS_OWNER, other=_OTHER_OWNER)


def set_role(actor: Actor, member: Member, role: Role) -> list[Statement[Any]]:
    """Return the statements that give a person another role, for one transaction; the second says whether it was given.

    It is not where the account would have no owner, or the actor is none. Invitations of a former owner end."""
    parameters = {"account": actor.account_id, "person": member.id, "role": role.value, "by": actor.person_id}
    change = Statement(_SET_ROLE, parameters, bool)
    detail = {"role": role.value, "before": member.role.value}
    ending: Statement[None] = Statement(
        "DELETE FROM invitation i USING membership m WHERE i.account_id = %(account)s AND i.person_id = %(person)s"
        " AND m.account_id = i.account_id AND m.person_id = i.person_id AND m.role <> 'owner' RETURNING 1 AS ended",
        parameters,
        nothing,
    )
    return [
        _lock(actor.account_id, member.id),
        noted(change, actor, Action.ROLE_CHANGED, _called(member), **detail),
        ending,
    ]


def remove_person(actor: Actor, member: Member) -> list[Statement[Any]]:
    """Return the statements that take a person out of an account, for one transaction, with what ends with them.

    The last two return whether they went, and the keys revoked. They don't go where the account would have no owner,
    or the actor is neither an owner nor themselves. Their invitations go with the membership."""
    parameters = {"account": actor.account_id, "person": member.id, "by": actor.person_id}
    removal = Statement(_REMOVE, parameters, bool)
    after = SQL(
        "WITH left_it AS (SELECT 1 WHERE NOT EXISTS"
        "  (SELECT FROM membership WHERE account_id = %(account)s AND person_id = %(person)s)),"
        " sessions AS (DELETE FROM session WHERE account_id = %(account)s AND person_id = %(person)s"
        "  AND EXISTS (SELECT FROM left_it)),"
        " links AS (DELETE FROM sign_in_link WHERE account_id = %(account)s AND person_id = %(person)s"
        "  AND EXISTS (SELECT FROM left_it)),"
        " mails AS (DELETE FROM mail WHERE account_id = %(account)s AND person_id = %(person)s"
        "  AND EXISTS (SELECT FROM left_it)),"
        " homeless AS (DELETE FROM person WHERE id = %(person)s"
        "  AND NOT EXISTS (SELECT FROM membership WHERE person_id = %(person)s))"
        " UPDATE api_key SET revoked_at = now() WHERE account_id = %(account)s AND person_id = %(person)s"
        " AND ends_with_person AND revoked_at IS NULL AND EXISTS (SELECT FROM left_it) RETURNING id"
    )
    return [
        _lock(actor.account_id, member.id),
        noted(removal, actor, Action.PERSON_REMOVED, _called(member), role=member.role.value),
        Statement(after, parameters, _ids),
    ]


def _called(member: Member) -> str:
    return member.email or member.name


def _ids(rows: Sequence[Row]) -> list[UUID]:
    return [row["id"] for row in rows]


def _lock(account_id: UUID, person_id: UUID) -> Statement[None]:
    """Let one change of an account's people follow the other, and so one of a person's accounts."""
    return Statement(
        "SELECT a.id FROM account a JOIN person p ON p.id = %(person)s WHERE a.id = %(account)s"
        " FOR NO KEY UPDATE OF a, p",
        {"account": account_id, "person": person_id},
        nothing,
    )


_INVITE = SQL(
    "INSERT INTO invitation (token_hash, account_id, email, role, expires_at, person_id)"
    " SELECT %(token)s, %(account)s, %(email)s::text, %(role)s, now() + %(lasts)s, %(by)s"
    " WHERE {is_owner} AND NOT EXISTS (SELECT FROM person p JOIN membership m ON m.person_id = p.id"
    "  WHERE p.email = %(email)s::text AND m.account_id = %(account)s)"
    " ON CONFLICT (account_id, email) DO UPDATE SET token_hash = excluded.token_hash, role = excluded.role,"
    " created_at = now(), expires_at = excluded.expires_at, person_id = excluded.person_id RETURNING 1 AS invited"
).format(is_owner=_IS_OWNER)


def invite(actor: Actor, email: str, role: Role, token: str, *, lasts: timedelta) -> list[Statement[Any]]:
    """Return the statements that invite somebody, for one transaction; the last says whether they were invited.

    They are not where they are in already, or the actor is no owner. An earlier invitation of the same e-mail ends; so
    do those of all accounts that have expired."""
    parameters = {
        "account": actor.account_id,
        "by": actor.person_id,
        "email": email,
        "role": role.value,
        "token": hash_token(token),
        "lasts": lasts,
    }
    expired: Statement[None] = Statement("DELETE FROM invitation WHERE expires_at < now() RETURNING 1", {}, nothing)
    inviting = Statement(_INVITE, parameters, bool)
    return [
        lock_account(actor.account_id),
        expired,
        noted(inviting, actor, Action.PERSON_INVITED, email, role=role.value),
    ]


_INVITATIONS = SQL(
    "SELECT i.account_id, a.name AS account_name, i.email, i.role, i.expires_at,"
    " EXISTS (SELECT FROM person p WHERE p.email = i.email) AS is_known"
    " FROM invitation i JOIN account a ON a.id = i.account_id"
    " WHERE i.expires_at > now() AND a.suspended_at IS NULL AND {one} ORDER BY i.created_at"
)
_OF_ACCOUNT = _INVITATIONS.format(one=SQL("i.account_id = %(account)s"))
_OF_TOKEN = _INVITATIONS.format(one=SQL("i.token_hash = %(token)s"))


def list_invitations(account_id: UUID) -> Statement[list[Invitation]]:
    """Read the open invitations of an account, oldest first."""
    return Statement(_OF_ACCOUNT, {"account": account_id}, rows_of(Invitation))


def find_invitation(token: str) -> Statement[Invitation | None]:
    """Find an invitation; None when it was used or withdrawn, or has expired."""
    return Statement(_OF_TOKEN, {"token": hash_token(token)}, row_of(Invitation))


def withdraw(actor: Actor, email: str) -> Statement[bool]:
    """Withdraw an invitation; return whether there was one."""
    change = Statement(
        "DELETE FROM invitation WHERE account_id = %(account)s AND email = %(email)s RETURNING 1 AS gone",
        {"account": actor.account_id, "email": email},
        bool,
    )
    return noted(change, actor, Action.INVITATION_WITHDRAWN, email)


def add_person(token: str, person_id: UUID, name: str, password_hash: str) -> Statement[None]:
    """Make the person that an invitation is for, before `accept` in the same transaction.

    Raises psycopg's UniqueViolation where somebody has the e-mail by now."""
    return Statement(
        "INSERT INTO person (id, name, email, password_hash) SELECT %(person)s, %(name)s, email, %(hash)s"
        # Locked, so that it is not withdrawn before `accept`: the person would be in no account.
        " FROM invitation WHERE token_hash = %(token)s AND expires_at > now() FOR UPDATE RETURNING 1 AS made",
        {"person": person_id, "name": name, "hash": password_hash, "token": hash_token(token)},
        nothing,
    )


def accept(invitation: Invitation, token: str, person_id: UUID) -> list[Statement[Any]]:
    """Return the statements by which a person joins an account, once and only with the invitation's e-mail.

    For one transaction; the first says whether they have joined."""
    actor = Actor(invitation.account_id, person_id)
    parameters = {"person": person_id, "token": hash_token(token), "account": invitation.account_id}
    joining = Statement(
        "INSERT INTO membership (account_id, person_id, role) SELECT i.account_id, p.id, i.role"
        " FROM invitation i JOIN person p ON p.email = i.email AND p.id = %(person)s"
        " WHERE i.token_hash = %(token)s AND i.account_id = %(account)s AND i.expires_at > now()"
        " ON CONFLICT DO NOTHING RETURNING 1 AS joined",
        parameters,
        bool,
    )
    using: Statement[None] = Statement(
        "DELETE FROM invitation WHERE token_hash = %(token)s RETURNING 1 AS used", parameters, nothing
    )
    return [noted(joining, actor, Action.PERSON_JOINED, invitation.email, role=invitation.role), using]
