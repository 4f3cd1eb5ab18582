"""Search providers: is a page in their results? One file each; what they have in common is beside them."""
