"""Raw: the same work written by hand, with nothing that makes it safe: the limit that we compare with.

One table, one row a job, a stock Dramatiq RedisBroker and a pub/sub channel. It has no keys, credits, ledger, rate
limits, idempotency, validation, request log or metrics; a result is lost with its notice, work with its message, and a
worker that dies late does it twice."""
