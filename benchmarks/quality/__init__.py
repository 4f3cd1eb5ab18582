"""Quality: how many words people would miss, of what is spoken here and of what is written down here."""
