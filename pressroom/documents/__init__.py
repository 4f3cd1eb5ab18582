"""Documents: what the service answers, as typed objects. A field that this release does not know is kept, too."""
