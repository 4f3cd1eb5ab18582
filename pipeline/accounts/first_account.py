"""First account: what a fresh system tells its owner; apart from what makes it, which takes long to import."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FirstAccount:
    """What the owner of a fresh system gets, once: a key, and the token of a link that signs in once."""

    api_key: str
    sign_in_token: str
