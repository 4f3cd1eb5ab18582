"""Blog: posts get pictures, an excerpt, a category and tags."""

from pipeline.kinds.blog.metadata import BlogMetadata

KINDS = (BlogMetadata(),)
