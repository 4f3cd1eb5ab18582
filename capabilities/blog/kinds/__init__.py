"""Blog: posts get pictures, an excerpt, a category and tags."""

from capabilities.blog.kinds.metadata import BlogMetadata

KINDS = (BlogMetadata(),)
