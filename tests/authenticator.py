"""Authenticator: makes and proves one passkey as a device does, and can do it wrong."""

import hashlib
import json
import os
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from webauthn import base64url_to_bytes
from webauthn.helpers import bytes_to_base64url

USER_PRESENT, USER_VERIFIED, HAS_KEY = 0x01, 0x04, 0x40


@dataclass
class Authenticator:
    """A device with one passkey for one site."""

    origin: str
    verifies: bool = True
    id: bytes = field(default_factory=lambda: os.urandom(16))
    count: int = 0
    user: bytes = b""
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def make(self, options: str | bytes) -> str:
        """Return the passkey that the options ask for, as a browser sends it."""
        asked = json.loads(options)
        self.user = base64url_to_bytes(asked["user"]["id"])
        numbers = self.key.public_key().public_numbers()
        cose = cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)})
        attested = bytes(16) + len(self.id).to_bytes(2) + self.id + cose
        told = self._told(asked["rp"]["id"], HAS_KEY) + attested
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": told})
        return self._sent(attestationObject=made, clientDataJSON=self._client("webauthn.create", asked))

    def prove(self, options: str | bytes) -> str:
        """Return the proof that the options ask for, as a browser sends it."""
        asked = json.loads(options)
        self.count += 1
        told, client = self._told(asked["rpId"]), self._client("webauthn.get", asked)
        signature = self.key.sign(told + hashlib.sha256(client).digest(), ec.ECDSA(SHA256()))
        return self._sent(authenticatorData=told, clientDataJSON=client, signature=signature, userHandle=self.user)

    def _told(self, site: str, flags: int = 0) -> bytes:
        flags |= USER_PRESENT | (USER_VERIFIED if self.verifies else 0)
        return hashlib.sha256(site.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def _client(self, kind: str, asked: dict[str, Any]) -> bytes:
        return json.dumps({"type": kind, "challenge": asked["challenge"], "origin": self.origin}).encode()

    def _sent(self, **response: bytes) -> str:
        encoded = {name: bytes_to_base64url(value) for name, value in response.items()}
        name = bytes_to_base64url(self.id)
        return json.dumps({"id": name, "rawId": name, "type": "public-key", "response": encoded})
