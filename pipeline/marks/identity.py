"""Identity: the certificate and key that sign files and receipts, the operator's or one made here."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from pipeline.database import Statement, nothing, row_of
from pipeline.errors import NotReady
from pipeline.settings import MarkSettings

#: Life of a certificate made here, and when the next one is made.
LIFE, RENEWED_BEFORE = timedelta(days=3_650), timedelta(days=30)


@dataclass(frozen=True)
class Identity:
    """A chain of certificates in PEM, the signer's first, and the signer's key in PEM (ECDSA, P-256)."""

    certificates: bytes
    key: bytes = field(repr=False)

    @cached_property
    def chain(self) -> list[x509.Certificate]:
        """The certificates, the signer's first."""
        return x509.load_pem_x509_certificates(self.certificates)

    @property
    def root(self) -> bytes:
        """The last certificate, in PEM: what a reader who trusts this signer trusts."""
        return self.chain[-1].public_bytes(Encoding.PEM)

    def lasts(self, moment: datetime) -> bool:
        """Return whether the signer's certificate is still valid then."""
        return moment < self.chain[0].not_valid_after_utc

    def sign(self, data: bytes) -> bytes:
        """Return an ECDSA signature with SHA-256, in DER."""
        key = load_pem_private_key(self.key, None)
        assert isinstance(key, ec.EllipticCurvePrivateKey)  # noqa: S101 - checked when it was read or made
        return key.sign(data, ec.ECDSA(hashes.SHA256()))


def operators_identity(settings: MarkSettings) -> Identity | None:
    """Return the identity that the settings name; None if they name none. Raises NotReady for one that can't sign."""
    if settings.certificate is None or settings.key is None:
        return None
    try:
        found = Identity(settings.certificate.read_bytes(), settings.key.read_bytes())
        signer, key = found.chain[0], load_pem_private_key(found.key, None)
    except OSError as error:
        raise NotReady(f"PRESSROOM_MARKS: {error.filename} can't be read ({error.strerror}).") from error
    except (ValueError, TypeError, IndexError) as error:
        raise NotReady(
            f"PRESSROOM_MARKS: {settings.certificate} and {settings.key} must be PEM, the key without a password."
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise NotReady("PRESSROOM_MARKS__KEY must be an ECDSA key on the curve P-256.")
    if key.public_key() != signer.public_key():
        raise NotReady("PRESSROOM_MARKS__KEY does not belong to the first certificate of PRESSROOM_MARKS__CERTIFICATE.")
    if not found.lasts(datetime.now(UTC)):
        raise NotReady(
            f"The certificate {settings.certificate} ended on {signer.not_valid_after_utc:%d %B %Y}. Renew it, or unset"
            " PRESSROOM_MARKS__CERTIFICATE and PRESSROOM_MARKS__KEY."
        )
    return found


def read_identity() -> Statement[Identity | None]:
    """Read the newest identity made here."""
    return Statement("SELECT certificates, key FROM mark_identity ORDER BY id DESC LIMIT 1", {}, row_of(Identity))


def add_identity(made: Identity) -> Statement[None]:
    """Keep an identity; of several processes that make one at once, one does."""
    return Statement(
        "INSERT INTO mark_identity (id, certificates, key)"
        " SELECT coalesce(max(id), 0) + 1, %(certificates)s, %(key)s FROM mark_identity"
        " ON CONFLICT DO NOTHING RETURNING 1 AS added",
        {"certificates": made.certificates, "key": made.key},
        nothing,
    )


def needs_renewal(found: Identity | None) -> bool:
    """Return whether the next identity is to be made now."""
    return found is None or not found.lasts(datetime.now(UTC) + RENEWED_BEFORE)


def make_identity() -> Identity:
    """Return a new signer under a new root, whose key is thrown away. C2PA accepts no self-signed signer."""
    root_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    number = x509.random_serial_number()
    root_name, name = _name(f"Pressroom root {number:x}"[:30]), _name(f"Pressroom {number:x}"[:25])
    root = _certificate(root_name, root_name, root_key.public_key(), root_key, is_root=True)
    signer = _certificate(name, root_name, key.public_key(), root_key, is_root=False)
    return Identity(
        b"".join(one.public_bytes(Encoding.PEM) for one in (signer, root)),
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
    )


def _name(text: str) -> x509.Name:
    return x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, "Pressroom"), x509.NameAttribute(NameOID.COMMON_NAME, text)]
    )


def _certificate(
    subject: x509.Name,
    issuer: x509.Name,
    public: ec.EllipticCurvePublicKey,
    issuer_key: ec.EllipticCurvePrivateKey,
    *,
    is_root: bool,
) -> x509.Certificate:
    """Return a certificate in C2PA's profile (specification 2.2, section 14.5.1)."""
    now = datetime.now(UTC)
    uses = dict.fromkeys(
        ("content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "encipher_only"), False
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(public)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))  # clocks differ
        .not_valid_after(now + LIFE)
        .add_extension(x509.BasicConstraints(is_root, 0 if is_root else None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer_key.public_key()), critical=False)
        .add_extension(
            x509.KeyUsage(
                digital_signature=not is_root, key_cert_sign=is_root, crl_sign=is_root, decipher_only=False, **uses
            ),
            critical=True,
        )
    )
    if not is_root:
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.EMAIL_PROTECTION]), critical=False)
    return builder.sign(issuer_key, hashes.SHA256())
