"""Benchmarks: what Pressroom costs beside the same work written by hand, measured in one run on the same servers."""
