"""Pages: what each needs of the database, and the resources that answer with it."""
