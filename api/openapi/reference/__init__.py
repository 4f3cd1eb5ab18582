"""Reference: the page /docs, made from the OpenAPI document, with an example and a form for each route.

`samples` makes a request, `lines` writes it for curl, and `views` prepares the page."""
