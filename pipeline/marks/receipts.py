"""Receipts: signed statements of what a job was given, what it delivered, by which models, and what it cost."""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal
from uuid import UUID

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from pydantic import BaseModel, Field

from pipeline.database import Statement, rows_of
from pipeline.errors import InvalidRequest
from pipeline.kind import Origin, Stored
from pipeline.lifecycle.jobs import Item, Job
from pipeline.marks.identity import Identity
from pipeline.timestamps import Timestamp, timestamp

#: The field of an item's stored output that has the hashes of its files and models, and the tokens of its models.
PROVENANCE = "_made"
#: Most bytes of a receipt that is verified: a job of 100 items has 60 kB.
MAX_BYTES = 8 * 2**20


class ReceiptInvalid(InvalidRequest):
    """A file is not a receipt, or was altered after it was signed."""

    code = "receipt_invalid"


class TokenCount(BaseModel):
    """Tokens that models read and wrote."""

    prompt: int = 0
    completion: int = 0


class ReceiptItem(BaseModel):
    """One item. Hashes are SHA-256 in hexadecimal."""

    index: int
    state: str
    credits: int
    output_sha256: str | None = Field(
        description="SHA-256 of the stored result as canonical JSON; null if there is none."
    )
    files_sha256: list[str] = Field(description="SHA-256 of each delivered file, as it was stored.")
    models: dict[str, str | None] = Field(description="Models by name, with the SHA-256 of their weights, if known.")
    tokens: dict[str, TokenCount] = Field(default={}, description="By engine, as its server counts them.")


class LedgerLine(BaseModel):
    """A line of the account's ledger that concerns the job."""

    entry: Literal["hold", "raise", "capture", "release"]
    available_change: int
    held_change: int
    created_at: Timestamp


class ReceiptContent(BaseModel):
    """The signed part of a receipt."""

    job: UUID
    kind: str
    route: str
    state: str
    created_at: Timestamp
    finished_at: Timestamp
    request_sha256: str = Field(description="Of the request's fields and the hashes of its files (docs/marking.md).")
    engine: str | None
    origin: str | None
    pressroom: str = Field(description="The version that wrote the receipt.")
    credits: int
    ledger: list[LedgerLine]
    items: list[ReceiptItem]


class ReceiptSignature(BaseModel):
    """An ECDSA signature with SHA-256 over the receipt as canonical JSON: sorted keys, no spaces, UTF-8."""

    algorithm: Literal["ES256"]
    certificates: str = Field(description="The signer's chain in PEM, the signer first.")
    value: str = Field(description="The signature, DER in base64.")


class Receipt(BaseModel):
    """A receipt and its signature; `pressroom verify` checks it without a network."""

    receipt: ReceiptContent
    signature: ReceiptSignature


def provenance(
    hashes: Mapping[str, str], models: Mapping[str, str | None], tokens: Mapping[str, TokenCount]
) -> dict[str, Any]:
    """Return an item's part of the receipt."""
    counts = {engine: count.model_dump() for engine, count in tokens.items()}
    return {"files": dict(hashes), "models": dict(models), "tokens": counts}


def read_ledger(job_id: UUID) -> Statement[list[tuple[str, int, int, Any]]]:
    """Read the ledger's lines of a job, oldest first."""
    return Statement(
        "SELECT entry, available_change, held_change, created_at FROM credit_entry WHERE job_id = %(id)s ORDER BY id",
        {"id": job_id},
        rows_of(lambda **row: tuple(row.values())),
    )


def read_request_hash(job_id: UUID) -> Statement[bytes]:
    """Read the hash of a job's request."""
    return Statement(
        "SELECT request_hash FROM job WHERE id = %(id)s", {"id": job_id}, lambda rows: bytes(rows[0]["request_hash"])
    )


def write_receipt(
    job: Job,
    items: Sequence[Item],
    *,
    request_hash: bytes,
    ledger: Sequence[tuple[str, int, int, Any]],
    origin: str | None,
    version: str,
    identity: Identity,
) -> Receipt:
    """Return the signed receipt of a job that has ended."""
    assert job.finished_at is not None  # noqa: S101 - only ended jobs have one
    content = ReceiptContent(
        job=job.id,
        kind=job.kind,
        route=job.route,
        state=job.state,
        created_at=timestamp(job.created_at),
        finished_at=timestamp(job.finished_at),
        request_sha256=request_hash.hex(),
        engine=job.engine,
        origin=origin,
        pressroom=version,
        credits=job.credits_captured,
        ledger=[
            LedgerLine(entry=entry, available_change=available, held_change=held, created_at=timestamp(at))
            for entry, available, held, at in ledger
        ],
        items=[_item(item) for item in items],
    )
    signature = ReceiptSignature(
        algorithm="ES256",
        certificates=identity.certificates.decode(),
        value=base64.b64encode(identity.sign(_canonical(content.model_dump(mode="json")))).decode(),
    )
    return Receipt(receipt=content, signature=signature)


def verify_receipt(data: bytes) -> tuple[Receipt, list[x509.Certificate]]:
    """Return a receipt as it was signed, and the signer's chain. Raises ReceiptInvalid."""
    try:
        sent = json.loads(data)
        receipt = Receipt.model_validate(sent)
        chain = x509.load_pem_x509_certificates(receipt.signature.certificates.encode())
        value = base64.b64decode(receipt.signature.value, validate=True)
        key = chain[0].public_key()
        for issued, issuer in pairwise(chain):
            issued.verify_directly_issued_by(issuer)
        if not isinstance(key, ec.EllipticCurvePublicKey):
            raise ReceiptInvalid("The receipt's certificate has no ECDSA key, so Pressroom did not sign it.")
        # As it was sent: a field that a newer release added is signed as well.
        key.verify(value, _canonical(sent["receipt"]), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise ReceiptInvalid("The receipt was altered after it was signed. Ask for the original.") from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise ReceiptInvalid("The file is not a receipt of Pressroom: GET /jobs/{id}/receipt returns one.") from error
    return receipt, chain


def fingerprint(certificate: x509.Certificate) -> str:
    """Return the SHA-256 of a certificate, in hexadecimal."""
    return hashlib.sha256(certificate.public_bytes(Encoding.DER)).hexdigest()


def _item(item: Item) -> ReceiptItem:
    output = dict(item.output or {})
    made = output.pop(PROVENANCE, None) or {}
    return ReceiptItem(
        index=item.index,
        state=item.state,
        credits=item.captured,
        output_sha256=hashlib.sha256(_canonical(output)).hexdigest() if item.output is not None else None,
        files_sha256=list(made.get("files", {}).values()),
        models=made.get("models", {}),
        tokens=made.get("tokens", {}),
    )


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


Status = Literal["signed", "altered", "tagged", "foreign", "unmarked"]


class Verified(Stored):
    """The contents of a file's marks. Those of an altered file are from before the change."""

    status: Status = Field(
        description="signed: as it was made; altered: changed since; tagged: marked, not signed, as streams are; "
        "foreign: signed by another program; unmarked: no mark, or one that was removed."
    )
    is_trusted: bool = Field(False, description="True if this Pressroom, or its operator's certificate, signed it.")
    signer: str | None = Field(None, description="The name in the signer's certificate.")
    origin: Origin | None = None
    source: str | None = Field(None, description="IPTC's digital source type, such as trainedAlgorithmicMedia.")
    engine: str | None = None
    model: str | None = None
    made_at: str | None = None
    job: str | None = None
