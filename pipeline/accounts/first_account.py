"""First account: what a fresh system tells its owner; apart from what makes it, which takes long to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FirstAccount:
    """The key and the one-time sign-in token that the owner of a fresh system is shown once."""

    api_key: str
    sign_in_token: str
