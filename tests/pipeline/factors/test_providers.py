"""OpenID providers: one that lies signs nobody in. tests/api/dashboard/test_provider_sign_in.py has a real one."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import pytest
from joserfc.jwk import OctKey, RSAKey
from openid_provider import CLIENT, SECRET, LyingProvider, lying_provider

from pipeline.errors import PressroomError
from pipeline.factors.providers import Departure, Identity, Provider
from pipeline.settings import Settings
from pipeline.settings.settings import OidcSettings

RETURN = "http://127.0.0.1:9/return"


def provider(issuer: str, **changes: Any) -> Provider:
    named = {"issuer": issuer, "client_id": CLIENT, "client_secret": SECRET, "allow_networks": "127.0.0.0/8"}
    return Provider(Settings(oidc=OidcSettings(**named | changes)))


def depart(issuer: str) -> Departure:
    return asyncio.run(provider(issuer).depart(RETURN))


def arrive(issuer: str, answer: dict[str, str], departure: Departure) -> Identity:
    return asyncio.run(provider(issuer).arrive(answer, departure.kept))


@pytest.fixture
def liar() -> Iterator[LyingProvider]:
    with lying_provider() as found:
        yield found


OTHER_KEY = RSAKey.generate_key(2048, {"kid": "own"})
LIES: dict[str, dict[str, Any]] = {
    "wrong nonce": {"claims": {"nonce": "another"}},
    "no nonce": {"claims": {"nonce": None}},
    "wrong audience": {"claims": {"aud": "another client"}},
    "among other audiences, without azp": {"claims": {"aud": [CLIENT, "another"]}},
    "for another party": {"claims": {"azp": "another"}},
    "wrong issuer": {"claims": {"iss": "https://accounts.example.org"}},
    "expired": {"claims": {"exp": int(time.time()) - 120}},
    "never expires": {"claims": {"exp": None}},
    "from the future": {"claims": {"iat": int(time.time()) + 86_400}},
    "no subject": {"claims": {"sub": None}},
    "subject is a number": {"claims": {"sub": 7}},
    "subject is empty": {"claims": {"sub": ""}},
    "another key": {"key": OTHER_KEY},
    "unknown key": {"header": {"alg": "RS256", "kid": "gone"}},
    "signed with the secret": {"header": {"alg": "HS256", "kid": "own"}, "key": OctKey.import_key(SECRET * 2)},
    "not signed": {"token": "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm4ifQ."},
    "no token": {"token": "a.b"},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_lie_in_the_id_token_is_refused(liar: LyingProvider, lie: dict[str, Any]) -> None:
    for name, value in lie.items():
        setattr(liar, name, value)
    departure = depart(liar.issuer)
    with pytest.raises(PressroomError) as refused:
        arrive(liar.issuer, liar.answer(departure.url), departure)
    assert refused.value.code == "provider_refused"


def test_the_secret_is_no_key_where_the_provider_publishes_it_as_one(liar: LyingProvider) -> None:
    published = OctKey.import_key("k" * 64, {"kid": "own"})
    liar.documents["/jwks"] = {"keys": [published.as_dict(private=True)]}
    liar.header, liar.key = {"alg": "HS256", "kid": "own"}, published
    departure = depart(liar.issuer)
    with pytest.raises(PressroomError) as refused:
        arrive(liar.issuer, liar.answer(departure.url), departure)
    assert refused.value.code == "provider_refused"


def test_without_a_lie_the_same_provider_is_believed_but_its_unverified_address_is_not(liar: LyingProvider) -> None:
    for told, believed in (
        ({}, None),
        ({"email_verified": "true"}, None),
        ({"email_verified": True}, "ann@example.com"),
    ):
        liar.claims = {"email": "ann@example.com", **told}
        departure = depart(liar.issuer)
        assert arrive(liar.issuer, liar.answer(departure.url), departure) == Identity(liar.issuer, "ann", believed)


@pytest.mark.parametrize(
    "change", [{"state": "another"}, {"state": ""}, {"iss": "https://other.example"}, {"code": ""}]
)
def test_an_answer_that_is_not_of_this_sign_in_is_refused_before_the_provider_is_asked(
    liar: LyingProvider, change: dict[str, str]
) -> None:
    departure = depart(liar.issuer)
    asked = len(liar.asked)
    with pytest.raises(PressroomError) as refused:
        arrive(liar.issuer, liar.answer(departure.url) | change, departure)
    assert (refused.value.code, len(liar.asked)) == ("provider_refused", asked)


def test_user_info_of_somebody_else_is_refused(liar: LyingProvider) -> None:
    liar.documents["/.well-known/openid-configuration"]["userinfo_endpoint"] = f"{liar.issuer}/me"
    liar.documents["/me"] = {"sub": "bob", "email": "bob@example.com", "email_verified": True}
    departure = depart(liar.issuer)
    with pytest.raises(PressroomError, match="another person"):
        arrive(liar.issuer, liar.answer(departure.url), departure)


@pytest.mark.parametrize(
    ("path", "document", "said"),
    [
        ("/.well-known/openid-configuration", {"issuer": "https://other.example"}, "calls itself"),
        ("/.well-known/openid-configuration", ["no object"], "no JSON object"),
        ("/jwks", {"keys": []}, "not accepted"),
        ("/jwks", {"keys": "none"}, "not accepted"),
        ("/jwks", {}, "not accepted"),
    ],
)
def test_documents_that_can_not_be_used_are_refused(liar: LyingProvider, path: str, document: Any, said: str) -> None:
    departure = depart(liar.issuer)
    answer = liar.answer(departure.url)
    liar.documents[path] = document
    with pytest.raises(PressroomError, match=said):
        arrive(liar.issuer, answer, departure)


def test_private_addresses_are_asked_only_where_the_operator_allows_them(liar: LyingProvider) -> None:
    with pytest.raises(PressroomError, match="ALLOW_NETWORKS"):
        asyncio.run(provider(liar.issuer, allow_networks="10.0.0.0/8").depart(RETURN))
    inside = {
        "issuer": liar.issuer,
        "authorization_endpoint": "https://10.1.2.3/",
        "token_endpoint": "http://10.1.2.3/",
    }
    departure = depart(liar.issuer)
    answer = liar.answer(departure.url)
    liar.documents["/.well-known/openid-configuration"] |= inside
    with pytest.raises(PressroomError, match="not a public one"):
        arrive(liar.issuer, answer, departure)


def test_a_provider_that_hangs_is_not_waited_for(liar: LyingProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.factors.providers.PATIENCE_SECONDS", 0)
    with pytest.raises(PressroomError, match="did not answer"):
        depart(liar.issuer)
