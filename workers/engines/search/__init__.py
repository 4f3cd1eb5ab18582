"""Search providers, one a file. `base` is what they share: client, markup, verdict."""
