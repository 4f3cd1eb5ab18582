"""The handlers of audiobooks."""
