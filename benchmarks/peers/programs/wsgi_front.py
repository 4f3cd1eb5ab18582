"""The HTTP front of peers whose clients block: Flask, under gunicorn with threads."""

from collections.abc import Callable
from typing import Any

from flask import Flask, request

#: Seconds that a request waits for its job.
PATIENCE_SECONDS = 60


def front(
    submit: Callable[[str, float], Any],
    id_of: Callable[[Any], str],
    wait: Callable[[Any], Any],
    stored: Callable[[list[str]], list[str]],
    failed: Callable[[list[str]], list[str]] = lambda ids: [],
) -> Flask:
    """Return the application, made of what a peer does in its own way."""
    app = Flask(__name__)

    @app.post("/jobs")
    def post() -> Any:
        asked = request.get_json()
        job = submit(asked.get("name", ""), asked.get("seconds", 0))
        if request.headers.get("Prefer") == "respond-async":
            return {"id": id_of(job)}, 202
        return {"id": id_of(job), "result": wait(job)}

    @app.post("/stored")
    def look() -> Any:
        ids = request.get_json()
        return {"stored": stored(ids), "failed": failed(ids)}

    return app
