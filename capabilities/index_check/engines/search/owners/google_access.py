"""Google access: tokens from a service account's key, or from a user's consent."""

import threading
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any

from capabilities.index_check.engines.search.base.provider import SearchRequest
from capabilities.index_check.engines.search.base.site_service import ServiceTrouble, Trouble
from capabilities.index_check.settings import SearchSettings
from pipeline.errors import NotReady
from pipeline.settings.installing import install_command

SCOPES = ("https://www.googleapis.com/auth/webmasters.readonly",)
SERVICE_ACCOUNT = "service_account"
AUTHORIZED_USER = "authorized_user"
EXTRA = "search-console"


class GoogleAccess:
    """A token that is renewed when it expires. Thread-safe."""

    def __init__(self, credentials: Any, name: str, settings: SearchSettings) -> None:
        self.name = name
        self._credentials = credentials
        self._settings = settings
        self._lock = threading.Lock()

    def authorize(self, request: SearchRequest) -> SearchRequest:
        with self._lock:
            if not self._credentials.valid:
                self._refresh()
            token = self._credentials.token
        return replace(request, headers={**request.headers, "Authorization": f"Bearer {token}"})

    def renew(self) -> None:
        with self._lock:
            self._credentials.token = None

    def _refresh(self) -> None:
        import requests
        from google.auth.exceptions import GoogleAuthError, RefreshError
        from google.auth.transport.requests import Request

        try:
            with requests.Session() as session:
                self._credentials.refresh(partial(Request(session), timeout=self._settings.limit_seconds))
        except RefreshError as error:
            if error.retryable:
                raise ServiceTrouble(Trouble.PASSING, "transport", "Google gave no token for now") from None
            raise ServiceTrouble(Trouble.DISCONNECTED, "access_revoked", _refusal_of(error)) from None
        except (GoogleAuthError, requests.RequestException) as error:
            # Without its text, which may hold an address.
            cause = f"Google's tokens can't be reached ({type(error).__name__})"
            raise ServiceTrouble(Trouble.PASSING, "transport", cause) from None


def open_access(credentials: dict[str, Any], settings: SearchSettings) -> GoogleAccess:
    """Return the access that credentials give. Raises ServiceTrouble if they are invalid, NotReady."""
    try:
        service_accounts: Any = import_module("google.oauth2.service_account")  # it has no types
        users: Any = import_module("google.oauth2.credentials")
    except ImportError:
        raise NotReady(f"Search Console needs the package google-auth: `{install_command(EXTRA)}`.") from None
    token_url = settings.search_console.token_url
    kind = credentials.get("type")
    try:
        if kind == SERVICE_ACCOUNT:
            # The address for tokens is ours: a file from elsewhere must not direct our requests.
            info = {**credentials, "token_uri": token_url}
            made = service_accounts.Credentials.from_service_account_info(info, scopes=SCOPES)
            return GoogleAccess(made, str(credentials["client_email"]), settings)
        if kind == AUTHORIZED_USER:
            made = users.Credentials(
                None,
                refresh_token=credentials["refresh_token"],
                token_uri=token_url,
                client_id=credentials["client_id"],
                client_secret=credentials["client_secret"],
                scopes=SCOPES,
            )
            return GoogleAccess(made, str(credentials["client_id"]), settings)
    except (ValueError, KeyError, TypeError):
        raise _invalid(f"the {kind} lacks fields, or its key is invalid") from None
    raise _invalid(f"the type is {str(kind)[:40]!a}, not {SERVICE_ACCOUNT}")


class BrowserConsent:
    """Consent of a person who comes from a page and returns to it (OAuth for web applications, with PKCE).

    `redirect` is the page's address, as the OAuth client lists it; `verifier` is a secret of this visit."""

    def __init__(self, settings: SearchSettings, redirect: str, verifier: str) -> None:
        try:
            from google_auth_oauthlib.flow import Flow
        except ImportError:
            raise NotReady(f"Consent needs the package google-auth-oauthlib: `{install_command(EXTRA)}`.") from None
        google = settings.search_console
        if google.client_id is None or google.client_secret is None:
            raise NotReady("The operator of this service has set up no OAuth client for Search Console.")
        client = {
            "client_id": google.client_id,
            "client_secret": google.client_secret.get_secret_value(),
            "auth_uri": google.consent_url,
            "token_uri": google.token_url,
        }
        self._flow = Flow.from_client_config(
            {"web": client}, scopes=SCOPES, redirect_uri=redirect, code_verifier=verifier
        )
        self._seconds = settings.limit_seconds

    def url(self, state: str) -> str:
        found: str = self._flow.authorization_url(state=state, access_type="offline", prompt="consent")[0]
        return found

    def credentials(self, code: str) -> dict[str, Any]:
        """Return the credentials to keep, for the code that Google has sent. Raises ServiceTrouble."""
        from oauthlib.oauth2 import OAuth2Error
        from requests import RequestException

        try:
            self._flow.fetch_token(code=code, timeout=self._seconds)
        # oauthlib raises a Warning where fewer permissions were given than asked for.
        except (OAuth2Error, RequestException, ValueError, Warning) as error:
            refusal = f"Google gave no access ({type(error).__name__})"
            raise ServiceTrouble(Trouble.DISCONNECTED, "access_refused", refusal) from error
        return _kept(self._flow.credentials)


def _kept(credentials: Any) -> dict[str, Any]:
    names = ("client_id", "client_secret", "refresh_token")
    return {"type": AUTHORIZED_USER, **{name: getattr(credentials, name) for name in names}}


def _invalid(cause: str) -> ServiceTrouble:
    return ServiceTrouble(Trouble.DISCONNECTED, "credentials_invalid", cause)


def _refusal_of(error: Exception) -> str:
    document = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], dict) else {}
    said = " ".join(str(document.get(name, "")) for name in ("error", "error_description")).strip()
    return f"Google gives no token ({said[:200] or 'no reason'})"
