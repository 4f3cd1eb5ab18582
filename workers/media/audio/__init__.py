"""Audio that is in memory: raw samples, their loudness, and the files made of them."""
