"""Blog: the page on which a post's pictures and texts are tried."""

from api.try_pages import Bulk, Call, Trial, TryPage
from capabilities.blog.kinds.metadata import CREDITS

__all__ = ["TRY"]

TRY = TryPage(
    slug="blog",
    title="Blog post",
    lead="Get covers, an excerpt, a category and tags for a post: write one, or drop many.",
    trials=(Trial("blog_metadata", "A card", f"{CREDITS} credits", Call("blog", "title")),),
    engines=("metadata", "pictures"),
    main=("posts", "title", "content", "image_style"),
    starts={"image_style": "illustration"},
    accepts={"posts": ".md,.markdown,.txt,.html,.htm"},
    bulk=Bulk(
        "posts",
        "blog_metadata",
        {
            "title": ("title", "headline", "name"),
            "content": ("content", "body", "text", "description", "post"),
            "language": ("language", "lang", "locale"),
        },
    ),
    abouts={
        "title": "",
        "content": "Text, Markdown or HTML. It makes every part of the card better.",
        "image_style": "If it can't be made here, you get the nearest one.",
        "image_title": "Turn it off if your theme shows the title.",
        "language": "Such as en or pt-BR. Leave it empty to detect it.",
    },
    labels={"posts": "Posts", "image_title": "Write the title on drawn covers", "image_style": "Style"},
    controls={"title": "text", "language": "text"},
    script="try_blog.js",
    submit="Create card",
    icon="newspaper",
    order=3,
)
