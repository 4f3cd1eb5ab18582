"""Identities: which person an OpenID provider means, by issuer and subject alone, since e-mails change hands."""

from uuid import UUID

from pipeline.database import Statement


def find_identity(issuer: str, subject: str) -> Statement[UUID | None]:
    """Return the person that is linked; None where nobody is."""
    return Statement(
        "SELECT person_id FROM provider_identity WHERE issuer = %(issuer)s AND subject = %(subject)s",
        {"issuer": issuer, "subject": subject},
        lambda rows: rows[0]["person_id"] if rows else None,
    )


def link_identity(person_id: UUID, issuer: str, subject: str) -> Statement[bool]:
    """Link an identity; returns false where somebody else has it, or the person has another of the provider's."""
    return Statement(
        "INSERT INTO provider_identity (issuer, subject, person_id) SELECT g.* FROM"
        " (SELECT %(issuer)s::text AS issuer, %(subject)s::text AS subject, %(person)s::uuid AS person_id) g"
        " WHERE NOT EXISTS (SELECT FROM provider_identity o"
        "  WHERE o.person_id = g.person_id AND o.issuer = g.issuer AND o.subject <> g.subject)"
        " ON CONFLICT (issuer, subject) DO UPDATE SET subject = EXCLUDED.subject"
        "  WHERE provider_identity.person_id = EXCLUDED.person_id RETURNING 1 AS linked",
        {"person": person_id, "issuer": issuer, "subject": subject},
        bool,
    )


def unlink_identities(person_id: UUID) -> Statement[int]:
    """Forget what a person is linked with; returns how many."""
    return Statement(
        "DELETE FROM provider_identity WHERE person_id = %(person)s RETURNING 1 AS gone", {"person": person_id}, len
    )


def count_identities(person_id: UUID) -> Statement[int]:
    return Statement(
        "SELECT count(*) AS linked FROM provider_identity WHERE person_id = %(person)s",
        {"person": person_id},
        lambda rows: int(rows[0]["linked"]),
    )
