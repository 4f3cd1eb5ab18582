"""Passkeys that browsers send: whatever is broken in one is refused, never an error of ours."""

import json
from uuid import uuid4

import pytest
from authenticator import Authenticator
from webauthn import base64url_to_bytes
from webauthn.helpers import bytes_to_base64url

from pipeline.factors.passkeys import PasskeyRefused, RelyingParty

CHALLENGE = bytes(range(32))


@pytest.mark.parametrize("mask", [0x01, 0x20, 0xFF])
def test_each_broken_byte_of_a_new_passkey_makes_another_or_none(mask: int) -> None:
    party = RelyingParty("https://pressroom.test")
    made = json.loads(
        Authenticator("https://pressroom.test").make(party.creation_options(uuid4(), "ann", [], CHALLENGE))
    )
    whole = base64url_to_bytes(made["response"]["attestationObject"])
    refused = 0
    for place in range(len(whole)):
        broken = whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :]
        made["response"]["attestationObject"] = bytes_to_base64url(broken)
        try:
            party.check_creation(json.dumps(made), CHALLENGE)
        except PasskeyRefused:
            refused += 1
    assert refused > len(whole) / 3
    with pytest.raises(PasskeyRefused):
        party.check_creation(json.dumps(made), bytes(32))
