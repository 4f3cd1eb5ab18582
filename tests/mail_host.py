"""A real SMTP server on loopback, with STARTTLS and a password, that keeps what it takes."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from ssl import PROTOCOL_TLS_SERVER, SSLContext
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from loopback import abort_connections, stop_listening

USER, PASSWORD = "pressroom", "secret of the mail server"


@dataclass
class MailHost:
    """Answers of the server, the next first; without one it takes the mail."""

    port: int = 0
    certificate: Path = Path()
    messages: list[EmailMessage] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    async def handle_DATA(  # noqa: N802  aiosmtpd's name
        self, server: Any, session: Any, envelope: Any
    ) -> str:
        if self.answers:
            return self.answers.pop(0)
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        assert envelope.rcpt_tos == [message["To"]]
        self.messages.append(message)
        self.raw.append(envelope.content)
        return "250 taken"

    def settings(self) -> dict[str, Any]:
        """Return what `settings.mail` needs to reach it."""
        return {
            "host": "127.0.0.1", "port": self.port, "user": USER, "password": PASSWORD, "timeout_seconds": 2,
            "sender": "Pressroom <pressroom@example.org>", "ca_file": self.certificate,
        }  # fmt: skip


@contextmanager
def mail_host(folder: Path) -> Iterator[MailHost]:
    """Run the server."""
    host = MailHost(certificate=folder / "certificate.pem")
    key_file = _make_certificate(host.certificate)
    context = SSLContext(PROTOCOL_TLS_SERVER)
    context.load_cert_chain(host.certificate, key_file)
    with socket.create_server(("127.0.0.1", 0)) as free:
        host.port = free.getsockname()[1]
    controller = Controller(
        host, hostname="127.0.0.1", port=host.port, tls_context=context, require_starttls=True, auth_required=True,
        authenticator=_authenticate,
    )  # fmt: skip
    controller.start()
    try:
        yield host
    finally:
        for ending in (stop_listening(controller.server), abort_connections()):
            asyncio.run_coroutine_threadsafe(ending, controller.loop).result()
        controller.stop()


def _authenticate(server: Any, session: Any, envelope: Any, mechanism: str, data: Any) -> AuthResult:
    right = isinstance(data, LoginPassword) and (data.login, data.password) == (USER.encode(), PASSWORD.encode())
    return AuthResult(success=right, handled=False)


def _make_certificate(path: Path) -> Path:
    """Write a certificate of 127.0.0.1 that signs itself; return the path of its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file = path.with_name("key.pem")
    key_file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return key_file
