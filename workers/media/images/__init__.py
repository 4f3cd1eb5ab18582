"""Images: files that somebody sent or pointed at, read safely."""
