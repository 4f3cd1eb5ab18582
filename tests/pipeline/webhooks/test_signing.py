"""Signatures of events, as Standard Webhooks has them."""

import base64
from datetime import UTC, datetime
from uuid import UUID

from pipeline.webhooks.events import make_secret, sign, signed_headers


def test_a_known_message_has_its_known_signature() -> None:
    # The example of the Standard Webhooks libraries.
    signature = sign(
        "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, '{"test": 2432232314}'
    )

    assert signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_has_256_bits_and_is_never_the_same() -> None:
    secret = make_secret()

    assert secret.startswith("whsec_")
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert make_secret() != secret


def test_each_try_has_the_same_id_and_its_own_time() -> None:
    secret, event = make_secret(), UUID(int=7)

    first, second = (signed_headers([secret], event, "{}", datetime(2026, 11, 23, 6, tzinfo=UTC)) for _ in range(2))
    later = signed_headers([secret], event, "{}", datetime(2026, 11, 23, 7, tzinfo=UTC))

    assert first == second
    assert first["webhook-id"] == later["webhook-id"] == "msg_00000000000000000000000000000007"
    assert int(later["webhook-timestamp"]) - int(first["webhook-timestamp"]) == 3_600
    assert first["webhook-signature"] != later["webhook-signature"]
