"""Passkeys: WebAuthn credentials. The browser's user is verified each time, so that one is two factors in itself."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from pipeline.database import SQL, Statement, row_of, rows_of
from pipeline.errors import Forbidden

#: Bytes of a challenge.
CHALLENGE_BYTES = 32
#: Errors of `webauthn`, besides its own, for answers that no browser gives.
BROKEN = (ValueError, LookupError, TypeError)
#: Passkeys of a person.
MOST = 20
MOST_NAME_LENGTH = 60


class PasskeyRefused(Forbidden):
    """The browser's answer proves no passkey."""

    code = "passkey_refused"


@dataclass(frozen=True, slots=True)
class Passkey:
    """A passkey of a person."""

    id: bytes
    person_id: UUID
    name: str
    public_key: bytes
    sign_count: int
    created_at: datetime
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewPasskey:
    """A passkey that a browser has just made."""

    id: bytes
    public_key: bytes
    sign_count: int


class RelyingParty:
    """This service as browsers know it, by the address that its pages have: passkeys are good there alone."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.id = parts.hostname or ""

    def creation_options(self, person_id: UUID, name: str, known: list[Passkey], challenge: bytes) -> str:
        """Return the options for a new passkey as JSON; they exclude the person's own."""
        import webauthn
        from webauthn.helpers import structs

        return webauthn.options_to_json(
            webauthn.generate_registration_options(
                rp_id=self.id,
                rp_name="Pressroom",
                user_id=person_id.bytes,
                user_name=name,
                challenge=challenge,
                exclude_credentials=[structs.PublicKeyCredentialDescriptor(one.id) for one in known],
                authenticator_selection=structs.AuthenticatorSelectionCriteria(
                    resident_key=structs.ResidentKeyRequirement.REQUIRED,
                    user_verification=structs.UserVerificationRequirement.REQUIRED,
                ),
            )
        )

    def request_options(self, known: list[Passkey], challenge: bytes) -> str:
        """Return the options to prove a passkey as JSON: one of `known`, or any for this service."""
        import webauthn
        from webauthn.helpers import structs

        return webauthn.options_to_json(
            webauthn.generate_authentication_options(
                rp_id=self.id,
                challenge=challenge,
                allow_credentials=[structs.PublicKeyCredentialDescriptor(one.id) for one in known],
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            )
        )

    def check_creation(self, credential: str, challenge: bytes) -> NewPasskey:
        """Return the passkey that a browser has made. Raises PasskeyRefused."""
        import webauthn
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            found = webauthn.verify_registration_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=self.origin,
                require_user_verification=True,
            )
        except (WebAuthnException, *BROKEN) as error:
            raise _refused(error) from error
        return NewPasskey(found.credential_id, found.credential_public_key, found.sign_count)

    def check_request(self, credential: str, passkey: Passkey, challenge: bytes) -> int:
        """Return the count of signatures with which a browser proves a passkey. Raises PasskeyRefused.

        A count that is not above the last one means that the passkey was copied (WebAuthn 3, section 6.1.1)."""
        import webauthn
        from webauthn.helpers.exceptions import WebAuthnException

        try:
            found = webauthn.verify_authentication_response(
                credential=credential,
                expected_challenge=challenge,
                expected_rp_id=self.id,
                expected_origin=self.origin,
                credential_public_key=passkey.public_key,
                credential_current_sign_count=passkey.sign_count,
                require_user_verification=True,
            )
        except (WebAuthnException, *BROKEN) as error:
            raise _refused(error) from error
        return found.new_sign_count


def credential_id(credential: str) -> bytes:
    """Return which passkey a browser's answer is of; empty where it is none."""
    from webauthn import base64url_to_bytes

    try:
        return base64url_to_bytes(json.loads(credential)["rawId"])
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return b""


def _refused(error: Exception) -> PasskeyRefused:
    return PasskeyRefused(f"The passkey was not accepted ({error}). Try again, or choose another way.")


_SELECT = SQL("SELECT id, person_id, name, public_key, sign_count, created_at, last_used_at FROM passkey")


def list_passkeys(person_id: UUID) -> Statement[list[Passkey]]:
    return Statement(
        SQL("{} WHERE person_id = %(person)s ORDER BY created_at, id").format(_SELECT),
        {"person": person_id},
        rows_of(Passkey),
    )


def find_passkey(passkey_id: bytes) -> Statement[Passkey | None]:
    return Statement(SQL("{} WHERE id = %(id)s").format(_SELECT), {"id": passkey_id}, row_of(Passkey))


def add_passkey(person_id: UUID, made: NewPasskey, name: str) -> Statement[bool]:
    """Give a person a passkey; returns false where somebody has it, or the person has MOST."""
    values: dict[str, Any] = {"id": made.id, "key": made.public_key, "count": made.sign_count}
    return Statement(
        "INSERT INTO passkey (id, person_id, name, public_key, sign_count)"
        " SELECT %(id)s, %(person)s, %(name)s, %(key)s, %(count)s"
        " WHERE (SELECT count(*) FROM passkey WHERE person_id = %(person)s) < %(most)s"
        " ON CONFLICT DO NOTHING RETURNING 1 AS added",
        {**values, "person": person_id, "name": name[:MOST_NAME_LENGTH], "most": MOST},
        bool,
        repeatable=False,
    )


def use_passkey(passkey: Passkey, sign_count: int) -> Statement[bool]:
    """Note a use; returns false where another browser was there first with the same count, or it was removed."""
    return Statement(
        "UPDATE passkey SET sign_count = %(count)s, last_used_at = now()"
        " WHERE id = %(id)s AND sign_count = %(before)s RETURNING 1 AS used",
        {"id": passkey.id, "count": sign_count, "before": passkey.sign_count},
        bool,
        repeatable=False,
    )


def remove_passkey(person_id: UUID, passkey_id: bytes) -> Statement[bool]:
    """Remove a passkey of a person, unless they sign in by it alone; returns whether it was removed."""
    return Statement(
        "DELETE FROM passkey WHERE id = %(id)s AND person_id = %(person)s AND (EXISTS"
        " (SELECT FROM person WHERE id = %(person)s AND password_hash IS NOT NULL)"
        " OR EXISTS (SELECT FROM passkey o WHERE o.person_id = %(person)s AND o.id <> %(id)s)"
        " OR EXISTS (SELECT FROM provider_identity WHERE person_id = %(person)s)) RETURNING 1 AS removed",
        {"id": passkey_id, "person": person_id},
        bool,
    )
