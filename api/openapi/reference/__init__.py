"""Reference: the page of all routes at /docs, with examples and a form for each, made of the OpenAPI document.

`samples` makes one request of each operation, `lines` writes it for curl, Python and JavaScript, `views` says what the
page shows of it. All that differs from route to route comes from the document, but for the names of the Python
package's methods (`calls`)."""
