"""Images: image files from outside, decoded safely."""
