"""Alt text: the page on which it is tried."""

from collections.abc import Sequence

from api.try_pages import Bulk, Call, Trial, TryPage
from capabilities.alt_text.kinds.fields import CREDITS
from pipeline.offers.languages import offered_languages
from pipeline.offers.offers import Offers

__all__ = ["TRY"]

PRICE = f"{CREDITS} credit per picture"
LENGTHS = (("all", "All three"), ("short", "Short"), ("seo", "For search engines"), ("long", "Long"))
#: Files that engines read (docs/alt-text.md).
PICTURES = "image/*"


def _languages(offers: Offers) -> Sequence[tuple[str, str]]:
    return [(code, code) for code in offered_languages(offers, "captioning")]


def _lengths(offers: Offers) -> Sequence[tuple[str, str]]:
    return LENGTHS


TRY = TryPage(
    slug="alt-text",
    title="Alt text",
    lead="Drop one picture, or hundreds, or a list of addresses, and get their alt texts.",
    trials=(Trial("alt_text", "Alt text", PRICE, Call("describe", "image")),),
    besides=("alt_text_batch",),
    engines=("captioning",),
    main=("image", "image_url", "mode"),
    labels={
        "image": "Picture",
        "image_url": "or its address",
        "mode": "Length",
        "allow_decorative": "Leave the text of ornaments empty",
    },
    abouts={
        "image_url": "A web address of a picture of at most 20 MB.",
        "mode": "Short: up to 125 characters. For search engines: 160. Long: 500.",
        "allow_decorative": "Screen readers then skip a picture that only decorates.",
        "language": "The language of the text.",
    },
    controls={"image_url": "url"},
    choices={"language": _languages, "mode": _lengths},
    starts={"mode": "all"},
    bulk=Bulk(
        "image",
        "alt_text",
        {
            "image_url": ("image_url", "image", "url", "src", "link", "picture", "photo"),
            "keywords": ("keywords", "tags"),
            "page_title": ("page_title", "title", "product"),
            "context": ("context", "text", "description"),
        },
        {"image_url": "Address of the picture", "page_title": "Title of its page", "context": "Text around it"},
    ),
    accepts={"image": PICTURES},
    script="try_alt_text.js",
    submit="Describe",
    icon="image",
    order=2,
)
