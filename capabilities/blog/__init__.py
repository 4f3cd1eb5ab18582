"""Blog: an excerpt, a category, tags and covers for a post."""

FAMILIES = {"metadata": "capabilities.blog.engines.metadata", "pictures": "capabilities.blog.engines.pictures"}
