"""Providers: sign-in by OpenID Connect (Core 1.0), with authorization codes, PKCE, state and nonce.

The provider is asked anew at each sign-in: a key that it withdraws is good no longer."""

import asyncio
import hmac
import json
from base64 import b64encode
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import quote
from uuid import UUID

import aiohttp
from authlib.common.security import generate_token
from authlib.oauth2.client import OAuth2Client
from authlib.oidc.core import CodeIDToken
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet, KeySetSerialization
from yarl import URL

from pipeline.database import Statement
from pipeline.downloads.addresses import Reach
from pipeline.downloads.connecting import open_session, plain_socket, read_most
from pipeline.downloads.failures import failure_of
from pipeline.downloads.targets import Refused, read_target, shown
from pipeline.errors import Forbidden, ServiceUnavailable
from pipeline.settings import Settings

USER_AGENT = "Pressroom"
#: Signatures with a key that the provider alone has: no `none`, and no HMAC, whose key is the client's secret.
ALGORITHMS = ("RS256", "PS256", "ES256", "EdDSA")
#: Longest time that all requests of a step may take together.
PATIENCE_SECONDS = 10
MOST_BYTES = 256 * 1024
#: Largest difference between the provider's clock and ours.
LEEWAY_SECONDS = 60
#: As long as a subject may be (Core 1.0, section 2).
MOST_SUBJECT_LENGTH = 255


class ProviderRefused(Forbidden):
    """The provider's answer proves nobody's identity."""

    code = "provider_refused"


class ProviderAway(ServiceUnavailable):
    """The provider can't be asked."""

    code = "provider_unavailable"


@dataclass(frozen=True, slots=True)
class Departure:
    """The URL that a browser is sent to, and the values to keep until it returns."""

    url: str
    kept: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom the provider has signed in; `email` only where it says that it has verified it."""

    issuer: str
    subject: str
    email: str | None


class Provider:
    """The operator's OpenID provider."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings.oidc
        self._fetch = settings.fetch
        self._reach = Reach(settings.oidc.allow_networks)

    @property
    def name(self) -> str:
        """The text of its button; empty where no provider is set."""
        return self._settings.name if self._settings.issuer else ""

    def may_vouch_for(self, email: str) -> bool:
        """Return whether the operator trusts the provider with this address's domain."""
        trusted = {part.strip().lower() for part in self._settings.trusted_domains.split(",")} - {""}
        return email.rpartition("@")[2] in trusted

    async def depart(self, redirect_uri: str) -> Departure:
        """Return the way to the provider. Raises ProviderAway."""
        state, nonce, verifier = generate_token(43), generate_token(43), generate_token(64)
        async with self._session() as session:
            endpoint = _text(await self._discover(session), "authorization_endpoint")
        self._target(endpoint)
        client = OAuth2Client(
            None, client_id=self._settings.client_id, scope="openid email", redirect_uri=redirect_uri,
            code_challenge_method="S256",
        )  # fmt: skip
        url, _ = client.create_authorization_url(endpoint, state=state, nonce=nonce, code_verifier=verifier)
        return Departure(url, {"state": state, "nonce": nonce, "verifier": verifier, "redirect_uri": redirect_uri})

    async def arrive(self, answer: Mapping[str, str], kept: Mapping[str, Any]) -> Identity:
        """Return the identity in the parameters of the answer. Raises ProviderRefused, ProviderAway."""
        if not hmac.compare_digest(answer.get("state", "").encode(), kept["state"].encode()):
            raise ProviderRefused("This answer belongs to no sign-in that this browser has begun. Start again.")
        if answer.get("iss", self._settings.issuer) != self._settings.issuer:  # RFC 9207
            raise ProviderRefused("The answer is another provider's. Start again.")
        if not answer.get("code"):
            raise ProviderRefused(f"{self.name} signed nobody in ({answer.get('error', 'no code')[:60]!r}).")
        async with self._session() as session:
            found = await self._discover(session)
            tokens = await self._exchange(session, found, answer["code"], kept)
            keys = await self._ask(session, _text(found, "jwks_uri"))
            claims = self._read(_text(tokens, "id_token"), keys, nonce=kept["nonce"])
            if "email" not in claims and "userinfo_endpoint" in found:
                claims |= await self._email(session, found, tokens, claims["sub"])
        email = claims.get("email") if claims.get("email_verified") is True else None
        return Identity(claims["iss"], claims["sub"], email if isinstance(email, str) else None)

    def _read(self, token: str, keys: dict[str, Any], *, nonce: str) -> dict[str, Any]:
        """Return the claims of an ID token (Core 1.0, section 3.1.3.7). Raises ProviderRefused."""
        own = self._settings
        options = {"iss": {"essential": True, "value": own.issuer}, "aud": {"essential": True, "value": own.client_id}}
        try:
            read = jwt.decode(token, KeySet.import_key_set(cast("KeySetSerialization", keys)), algorithms=ALGORITHMS)
            claims = CodeIDToken(read.claims, read.header, options, {"nonce": nonce, "client_id": own.client_id})
            claims.validate(leeway=LEEWAY_SECONDS)
        except (JoseError, ValueError, TypeError, KeyError) as error:
            raise ProviderRefused(f"{self.name} sent an identity that is not accepted ({error}).") from error
        subject = claims["sub"]
        if not isinstance(subject, str) or not 0 < len(subject) <= MOST_SUBJECT_LENGTH or "\0" in subject:
            raise ProviderRefused(f"{self.name} sent an identity without a usable subject.")
        return dict(claims)

    async def _discover(self, session: aiohttp.ClientSession) -> dict[str, Any]:
        found = await self._ask(
            session, f"{(self._settings.issuer or '').rstrip('/')}/.well-known/openid-configuration"
        )
        if found.get("issuer") != self._settings.issuer:
            raise ProviderAway(
                f"{self.name} calls itself {str(found.get('issuer'))[:100]!r}, not PRESSROOM_OIDC__ISSUER."
            )
        return found

    async def _exchange(
        self, session: aiohttp.ClientSession, found: dict[str, Any], code: str, kept: Mapping[str, Any]
    ) -> dict[str, Any]:
        secret = self._settings.client_secret.get_secret_value() if self._settings.client_secret else ""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": kept["redirect_uri"],
            "code_verifier": kept["verifier"],
        }
        headers = {}
        if "client_secret_basic" in found.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]):
            # RFC 6749, section 2.3.1: both are form-encoded first.
            name, password = (quote(text, safe="") for text in (self._settings.client_id or "", secret))
            headers["Authorization"] = f"Basic {b64encode(f'{name}:{password}'.encode()).decode()}"
        else:
            form |= {"client_id": self._settings.client_id or "", "client_secret": secret}
        return await self._ask(session, _text(found, "token_endpoint"), form=form, headers=headers)

    async def _email(
        self, session: aiohttp.ClientSession, found: dict[str, Any], tokens: dict[str, Any], subject: str
    ) -> dict[str, Any]:
        """Return UserInfo's fields of the e-mail (Core 1.0, section 5.3). Raises ProviderRefused."""
        headers = {"Authorization": f"Bearer {_text(tokens, 'access_token')}"}
        told = await self._ask(session, _text(found, "userinfo_endpoint"), headers=headers)
        if told.get("sub") != subject:
            raise ProviderRefused(f"{self.name} describes another person than it signed in.")
        return {name: told.get(name) for name in ("email", "email_verified")}

    async def _ask(
        self,
        session: aiohttp.ClientSession,
        url: str,
        *,
        form: dict[str, str] | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        """Return an answer's JSON object; no redirect is followed. Raises ProviderAway, ProviderRefused."""
        target, method = self._target(url), "GET" if form is None else "POST"
        try:
            async with session.request(method, target, data=form, headers=headers, allow_redirects=False) as answer:
                body, status = await read_most(answer, MOST_BYTES), answer.status
        except (aiohttp.ClientError, OSError) as error:
            raise ProviderAway(f"{self.name} can't be asked. {failure_of(error, shown(url)).message}") from error
        if len(body) > MOST_BYTES:
            raise ProviderRefused(f"{shown(url)} answers with more than {MOST_BYTES:,} bytes.")
        if status >= 500 or 300 <= status < 400:
            raise ProviderAway(f"{shown(url)} answers with HTTP {status}.")
        try:
            found = json.loads(body)
        except (ValueError, RecursionError):
            found = None
        if status != 200 or not isinstance(found, dict):
            why = found.get("error", "") if isinstance(found, dict) else "no JSON object"
            raise ProviderRefused(f"{shown(url)} answers with HTTP {status} ({str(why)[:60]!r}).")
        return found

    def _target(self, url: str) -> URL:
        try:
            return read_target(url, self._reach)
        except Refused as refused:
            raise ProviderAway(
                f"{shown(url)} can't be asked: {refused.why}. PRESSROOM_OIDC__ALLOW_NETWORKS allows private addresses."
            ) from refused

    @asynccontextmanager
    async def _session(self) -> Any:
        """Give a session for one step. Raises ProviderAway where the step takes too long."""
        opened = open_session(
            self._fetch, self._reach, None, plain_socket, user_agent=USER_AGENT, accept="application/json"
        )
        try:
            async with asyncio.timeout(PATIENCE_SECONDS), opened as session:
                yield session
        except TimeoutError as error:
            raise ProviderAway(f"{self.name} did not answer within {PATIENCE_SECONDS} seconds. Try again.") from error


def _text(found: Mapping[str, Any], name: str) -> str:
    """Return a member of a provider's answer. Raises ProviderRefused."""
    value = found.get(name)
    if not isinstance(value, str) or not value:
        raise ProviderRefused(f"The provider's answer has no {name}.")
    return value


def find_identity(issuer: str, subject: str) -> Statement[UUID | None]:
    """Return the person that is linked; None where nobody is."""
    return Statement(
        "SELECT person_id FROM provider_identity WHERE issuer = %(issuer)s AND subject = %(subject)s",
        {"issuer": issuer, "subject": subject},
        lambda rows: rows[0]["person_id"] if rows else None,
    )


def link_identity(person_id: UUID, issuer: str, subject: str) -> Statement[bool]:
    """Link an identity; returns false where somebody else has it, or the person has another of the provider's."""
    return Statement(
        "INSERT INTO provider_identity (issuer, subject, person_id) SELECT g.* FROM"
        " (SELECT %(issuer)s::text AS issuer, %(subject)s::text AS subject, %(person)s::uuid AS person_id) g"
        " WHERE NOT EXISTS (SELECT FROM provider_identity o"
        "  WHERE o.person_id = g.person_id AND o.issuer = g.issuer AND o.subject <> g.subject)"
        " ON CONFLICT (issuer, subject) DO UPDATE SET subject = EXCLUDED.subject"
        "  WHERE provider_identity.person_id = EXCLUDED.person_id RETURNING 1 AS linked",
        {"person": person_id, "issuer": issuer, "subject": subject},
        bool,
    )


def unlink_identities(person_id: UUID) -> Statement[int]:
    """Delete a person's links to providers, unless they sign in by these alone; return their number."""
    return Statement(
        "DELETE FROM provider_identity WHERE person_id = %(person)s AND (EXISTS"
        " (SELECT FROM person WHERE id = %(person)s AND password_hash IS NOT NULL)"
        " OR EXISTS (SELECT FROM passkey WHERE person_id = %(person)s)) RETURNING 1 AS gone",
        {"person": person_id},
        len,
    )


def count_identities(person_id: UUID) -> Statement[int]:
    return Statement(
        "SELECT count(*) AS linked FROM provider_identity WHERE person_id = %(person)s",
        {"person": person_id},
        lambda rows: int(rows[0]["linked"]),
    )
