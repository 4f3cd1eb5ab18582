"""`pressroom verify`, which needs no running service and no network."""

import hashlib
from io import BufferedReader
from pathlib import Path
from typing import Annotated

import typer

from pipeline.errors import InvalidRequest
from pipeline.marks.receipts import MAX_BYTES, Verified, fingerprint, verify_receipt
from scripts.commands import SERVICE, under
from scripts.terminal import tell
from workers.media.marks.verifying import verify_file

#: A sentence for each status; those that are not proof end the command with 1.
SAID = {
    "signed": "The file is as it was made.",
    "altered": "The file was changed after it was made.",
    "tagged": "The file says that a machine made it; it is not signed.",
    "foreign": "Another program signed the file.",
    "unmarked": "The file has no mark, or its mark was removed.",
}
TRUST = {True: "trusted", False: "not among the certificates that you trust"}


def verify(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A sound, a picture, or a receipt.")],
    receipt: Annotated[Path | None, typer.Option(help="A job's receipt that must name the file.")] = None,
    certificate: Annotated[
        Path | None, typer.Option(help="Certificates that you trust: GET /certificate of a Pressroom returns its own.")
    ] = None,
) -> None:
    """Say which machine made a file, and whether it was changed since. Exit 1: it is not as a machine here made it."""
    trusted = _read(certificate) if certificate else None
    if file.suffix == ".json":
        _show_receipt(_read(file), trusted)
        return
    with _open(file) as opened:
        found = verify_file(opened, trusted=trusted)
    _show(found, has_certificate=trusted is not None)
    if receipt is not None:
        _compare(file, _read(receipt), trusted)
    if found.status not in ("signed", "tagged"):
        raise typer.Exit(1)


def _show(found: Verified, *, has_certificate: bool) -> None:
    tell(SAID[found.status], style="green" if found.status == "signed" else "yellow")
    signer = found.signer and (f"{found.signer} ({TRUST[found.is_trusted]})" if has_certificate else found.signer)
    lines = {
        "Origin": found.origin,
        "Source": found.source,
        "Engine": found.engine,
        "Model": found.model,
        "Made": found.made_at,
        "Job": found.job,
        "Signed by": signer,
    }
    for name, value in lines.items():
        if value:
            typer.echo(f"  {name + ':':11}{value}")


def _show_receipt(data: bytes, trusted: bytes | None) -> list[str]:
    """Show a receipt whose signature holds; return the hashes of its files. Raises ReceiptInvalid."""
    receipt, chain = verify_receipt(data)
    said = receipt.receipt
    tell("The receipt is as it was signed.", style="green")
    typer.echo(f"  Job:       {said.job} ({said.kind}, {said.state})")
    typer.echo(f"  Credits:   {said.credits}")
    for item in said.items:
        for name, sha256 in item.models.items():
            typer.echo(f"  Model:     {name} {sha256 or '(hash not known)'}")
    is_trusted = trusted is not None and fingerprint(chain[-1]) in _fingerprints(trusted)
    typer.echo(f"  Signed by: {fingerprint(chain[0])}" + (f" ({TRUST[is_trusted]})" if trusted else ""))
    if trusted is not None and not is_trusted:
        raise typer.Exit(1)
    return [sha256 for item in said.items for sha256 in item.files_sha256]


def _compare(file: Path, data: bytes, trusted: bytes | None) -> None:
    hashes = _show_receipt(data, trusted)
    with _open(file) as opened:
        is_named = hashlib.file_digest(opened, "sha256").hexdigest() in hashes
    tell("The receipt names this file." if is_named else "The receipt does not name this file.", style="yellow")
    if not is_named:
        raise typer.Exit(1)


def _fingerprints(certificates: bytes) -> set[str]:
    from cryptography import x509

    try:
        return {fingerprint(one) for one in x509.load_pem_x509_certificates(certificates)}
    except ValueError as error:
        raise InvalidRequest("The file of --certificate has no certificate in PEM.") from error


def _open(file: Path) -> BufferedReader:
    try:
        return file.open("rb")
    except OSError as error:
        raise InvalidRequest(f"{file} can't be read ({error.strerror}).") from error


def _read(file: Path) -> bytes:
    with _open(file) as opened:
        data = opened.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InvalidRequest(f"{file} has more than {MAX_BYTES:,} bytes, so it is not a receipt or certificate.")
    return data


register = under(SERVICE, verify)
