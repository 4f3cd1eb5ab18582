"""Pages: the rows that each needs, and the resources that answer with them."""
