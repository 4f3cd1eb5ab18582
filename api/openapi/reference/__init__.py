"""Reference: the page /docs, made from the OpenAPI document, with examples and a form for each route.

`samples` makes a request, `lines` writes it for curl, Python and JavaScript, `views` prepares the page, and `calls`
names the Python package's methods."""
