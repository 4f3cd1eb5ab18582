"""Google as site owners meet it, on loopback: tokens, consent, lists of sites, inspections, quotas.

The forms are the documented ones: Google's OAuth 2.0 for service accounts and installed apps, the Search Console API
(webmasters/v3/sites, v1/urlInspection/index:inspect) with its old and new forms of errors.
"""

import base64
import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from loopback import served

SCOPE = "https://www.googleapis.com/auth/webmasters.readonly"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
EMAIL = "pressroom@project-1.iam.gserviceaccount.com"
INDEXED = ("PASS", "Submitted and indexed")
UNKNOWN = ("NEUTRAL", "URL is unknown to Google")


def old_error(status: int, reason: str, message: str) -> tuple[int, Any]:
    """Return an error as the older Google APIs write it."""
    errors = [{"domain": "usageLimits", "reason": reason, "message": message}]
    return status, {"error": {"code": status, "message": message, "errors": errors}}


def new_error(status: int, name: str, message: str, **info: Any) -> tuple[int, Any]:
    """Return an error as the newer Google APIs write it; `info` is an ErrorInfo."""
    details = (
        [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "domain": "googleapis.com", **info}] if info else []
    )
    return status, {"error": {"code": status, "message": message, "status": name, "details": details}}


#: Faults that strike requests about a URL.
FAULTS: dict[str, tuple[int, Any]] = {
    "minute_429": new_error(
        429,
        "RESOURCE_EXHAUSTED",
        "Quota exceeded.",
        reason="RATE_LIMIT_EXCEEDED",
        metadata={"quota_limit": "UrlInspectionPerMinutePerSite"},
    ),
    "day_429": new_error(
        429,
        "RESOURCE_EXHAUSTED",
        "Quota exceeded.",
        reason="RATE_LIMIT_EXCEEDED",
        metadata={"quota_limit": "UrlInspectionPerDayPerSite"},
    ),
    "plain_429": new_error(429, "RESOURCE_EXHAUSTED", "Quota exceeded for sc-domain:e.example."),
    "quotaExceeded": old_error(403, "quotaExceeded", "Quota exceeded."),
    "rateLimitExceeded": old_error(403, "rateLimitExceeded", "Rate limit exceeded."),
    "dailyLimitExceeded": old_error(403, "dailyLimitExceeded", "Daily limit exceeded."),
    "not_owner": new_error(403, "PERMISSION_DENIED", "You do not own this site."),
    "api_disabled": new_error(403, "PERMISSION_DENIED", "The API is disabled.", reason="SERVICE_DISABLED"),
    "bad_request": new_error(400, "INVALID_ARGUMENT", "Request contains an invalid argument."),
    "500": new_error(500, "INTERNAL", "Internal error encountered."),
    "no_json": (200, "<html>"),
}


@dataclass
class SiteServices:
    """The running doubles."""

    address: str = ""
    #: What Google says of a URL (verdict and state), what it has not heard of otherwise; more fields of the answer.
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    #: Properties, with the level of permission.
    sites: dict[str, str] = field(default_factory=dict)
    #: `faults` strike one request each, `always` all of them.
    faults: deque[str] = field(default_factory=deque)
    always: str | None = None
    retry_after: str = ""
    #: The token endpoint's refusal, if any.
    refusal: str | None = None
    #: Tokens that are no longer taken.
    stale: set[str] = field(default_factory=set)
    #: (property, URL) of all inspections.
    inspected: list[tuple[str, str]] = field(default_factory=list)
    tokens: list[str] = field(default_factory=list)
    grants: list[str] = field(default_factory=list)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65_537, 2_048))

    def reset(self) -> None:
        """Forget what a test has said and seen."""
        for found in (self.pages, self.more, self.sites, self.faults, self.stale):
            found.clear()
        for seen in (self.inspected, self.tokens, self.grants):
            seen.clear()
        self.always = self.refusal = None
        self.retry_after = ""

    def environment(self) -> dict[str, str]:
        """Return settings that ask these doubles alone."""
        google = "PRESSROOM_SEARCH__SEARCH_CONSOLE__"
        return {
            f"{google}URL": f"{self.address}/v1/urlInspection/index:inspect",
            f"{google}SITES_URL": f"{self.address}/webmasters/v3/sites",
            f"{google}TOKEN_URL": f"{self.address}/token",
            f"{google}CONSENT_URL": f"{self.address}/consent",
        }

    def service_account(self) -> dict[str, str]:
        """Return the JSON that Google gives for a service account; its token_uri must not be believed."""
        pem = self.key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return {
            "type": "service_account",
            "project_id": "project-1",
            "private_key_id": "key-1",
            "private_key": pem.decode(),
            "client_email": EMAIL,
            "token_uri": "http://127.0.0.1:9/elsewhere",
        }

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        grant = str(form["grant_type"])
        self.grants.append(grant)
        if self.refusal is not None:
            error = {"error": self.refusal, "error_description": "Token has been expired or revoked."}
            return web.json_response(error, status=503 if self.refusal == "temporarily_unavailable" else 400)
        if grant == JWT_BEARER:
            self._check_assertion(str(form["assertion"]))
        elif grant == "authorization_code":
            assert form["code"] == "code-1"
            assert form["code_verifier"]
        else:
            assert (grant, form["refresh_token"]) == ("refresh_token", "refresh-1")
        self.tokens.append(f"token-{len(self.tokens) + 1}")
        answer = {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 3_599, "scope": SCOPE}
        return web.json_response(answer | ({"refresh_token": "refresh-1"} if grant == "authorization_code" else {}))

    def _check_assertion(self, assertion: str) -> None:
        signed, _, signature = assertion.rpartition(".")
        self.key.public_key().verify(_decoded(signature), signed.encode(), padding.PKCS1v15(), hashes.SHA256())
        header, claims = (json.loads(_decoded(part)) for part in signed.split("."))
        assert (header["alg"], claims["iss"], claims["scope"]) == ("RS256", EMAIL, SCOPE)
        assert claims["exp"] > claims["iat"]

    async def _consent(self, request: web.Request) -> web.Response:
        """Consent at once, as a person in a browser would."""
        asked = request.query
        assert (asked["scope"], asked["code_challenge_method"], asked["access_type"]) == (SCOPE, "S256", "offline")
        answer = "error=access_denied" if self.refusal else "code=code-1"
        raise web.HTTPFound(f"{asked['redirect_uri']}?{answer}&state={asked['state']}")

    def _refused(self, request: web.Request) -> web.Response | None:
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        if token in self.tokens and token not in self.stale:
            return None
        status, error = new_error(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        return web.json_response(error, status=status)

    async def _list_sites(self, request: web.Request) -> web.Response:
        entries = [{"siteUrl": site, "permissionLevel": level} for site, level in self.sites.items()]
        return self._refused(request) or web.json_response({"siteEntry": entries} if entries else {})

    async def _inspect(self, request: web.Request) -> web.Response:
        if (refused := self._refused(request)) is not None:
            return refused
        asked = await request.json()
        assert asked["languageCode"] == "en-US"
        self.inspected.append((asked["siteUrl"], asked["inspectionUrl"]))
        if (fault := self._fault()) is not None:
            return fault
        verdict, state = self.pages.get(asked["inspectionUrl"], UNKNOWN)
        status = {
            "verdict": verdict,
            "coverageState": state,
            "robotsTxtState": "ALLOWED",
            "indexingState": "INDEXING_ALLOWED",
            "pageFetchState": "SUCCESSFUL",
            **self.more,
        }
        link = f"https://search.google.com/search-console/inspect?id={len(self.inspected)}"
        result = {"inspectionResultLink": link, "indexStatusResult": status, "mobileUsabilityResult": {}}
        return web.json_response({"inspectionResult": result})

    def _fault(self) -> web.Response | None:
        fault = self.always or (self.faults.popleft() if self.faults else None)
        if fault is None:
            return None
        status, body = FAULTS[fault]
        headers = {"Retry-After": self.retry_after} if self.retry_after else {}
        return web.Response(text=body if isinstance(body, str) else json.dumps(body), status=status, headers=headers)


def _decoded(part: str) -> bytes:
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


@contextmanager
def site_services() -> Iterator[SiteServices]:
    """Run the doubles on a port of their own until the block is left."""
    services = SiteServices()
    app = web.Application()
    app.add_routes(
        [
            web.post("/token", services._token),
            web.get("/consent", services._consent),
            web.get("/webmasters/v3/sites", services._list_sites),
            web.post("/v1/urlInspection/index:inspect", services._inspect),
        ]
    )
    with served(app) as port:
        services.address = f"http://127.0.0.1:{port}"
        yield services
