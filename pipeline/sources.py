"""Sources: where a request may say that it comes from."""

from typing import Literal

Source = Literal["web", "api", "extension", "wordpress", "shopify", "batch"]
