"""The client as a package: what it imports, and that both clients have the same methods."""

import base64
import hmac
import inspect
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from pressroom import AsyncPressroom, Pressroom, WebhookInvalid, verify_webhook


def methods(client: type) -> dict[str, Callable[..., Any]]:
    """Return the methods that ask the service."""
    return {name: found for name, found in inspect.getmembers(client) if hasattr(found, "__signature__")}


def test_the_client_imports_nothing_of_the_service() -> None:
    loaded = "import json, sys, pressroom; print(json.dumps(sorted({name.split('.')[0] for name in sys.modules})))"
    ran = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)

    others = {"api", "models", "pipeline", "scripts", "workers", "sqlmodel", "falcon", "redis", "aiohttp", "numpy"}
    assert not others & set(json.loads(ran.stdout))


def test_both_clients_have_the_same_methods_with_the_same_parameters() -> None:
    ours, theirs = methods(Pressroom), methods(AsyncPressroom)

    assert len(ours) > 30
    assert list(ours) == list(theirs)
    for name, method in ours.items():
        assert inspect.signature(method).parameters == inspect.signature(theirs[name]).parameters, name
        assert method.__doc__ == theirs[name].__doc__


def test_a_signature_shows_the_options_and_what_comes_back() -> None:
    signature = inspect.signature(Pressroom.speak)

    assert list(signature.parameters)[:2] == ["self", "text"]
    assert {"voice", "speed", "to", "progress", "idempotency_key", "webhook_url"} <= set(signature.parameters)
    assert signature.return_annotation.__name__ == "Speech"
    assert str(inspect.signature(AsyncPressroom.stream_speech).return_annotation).endswith("AsyncStream[bytes]")


def test_an_option_that_is_misspelt_is_refused() -> None:
    # The service would ignore it, as a field that it does not know.
    with Pressroom("key") as client, pytest.raises(TypeError, match="no option 'vioce'"):
        client.speak("Hello.", vioce="af_heart")  # type: ignore[call-arg]  # that is what is tested


def test_a_webhook_is_verified_as_the_standard_s_own_library_signs_it() -> None:
    secret, other = (f"whsec_{base64.b64encode(letter * 24).decode()}" for letter in (b"a", b"b"))
    documented = (Path(__file__).parents[2] / "docs" / "webhooks.md").read_text("utf-8")
    body, now = documented.split("```json\n")[1].split("```")[0], datetime.now(UTC)

    def headers(at: datetime, *secrets: str) -> dict[str, str]:
        signed = " ".join(Webhook(one).sign("msg_1", at, body) for one in secrets)
        return {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(int(at.timestamp())), "webhook-signature": signed}

    event = verify_webhook(body.encode(), headers(now, other, secret), secret)
    assert (event["type"], event["data"]["links"]["result"]) == ("job.completed", "/jobs/6f0c…/result")
    unkeyed = hmac.digest(b"", f"msg_1.{int(now.timestamp())}.{body}".encode(), "sha256")
    for wrong_body, wrong_headers, wrong_secret in [
        (f"{body} ", headers(now, secret), secret),
        (body, headers(now, other), secret),
        (body, headers(now - timedelta(minutes=6), secret), secret),
        (body, headers(now, secret), "whsec_not base64"),
        (body, {}, secret),
        (body, headers(now) | {"webhook-signature": f"v1,{base64.b64encode(unkeyed).decode()}"}, ""),
        (body, headers(now, secret) | {"webhook-signature": "v1,\udcff"}, secret),  # as aiohttp reads a header
    ]:
        with pytest.raises(WebhookInvalid):
            verify_webhook(wrong_body, wrong_headers, wrong_secret)
