"""All of a list: the client follows the links of its pages, also behind one that has nothing."""

from aiohttp import web
from test_client_repeats import asked

from pressroom import AsyncPressroom

#: Pages by the offset and end that they are asked for: what they hold, and what their next link asks for.
PAGES = {
    ("0", ""): (["a", "b"], "limit=100&offset=2"),
    ("2", ""): (["c"], "limit=100&offset=0&to=2026-05-04T00%3A00%3A00.000001Z"),
    ("0", "2026-05-04T00:00:00.000001Z"): ([], "limit=100&offset=0&to=2026-05-03"),
    ("0", "2026-05-03"): (["d"], ""),
}
JOB = {
    "kind": "speech",
    "state": "failed",
    "progress": {"done": 0, "total": 1, "failed": 1},
    "credits": {"held": 1, "captured": 0, "released": 1},
    "created_at": "2026-05-04T00:00:00Z",
    "route": "/tts",
    "request_id": "r",
}


def test_all_jobs_are_read_by_following_the_links() -> None:
    queries: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        queries.append(request.query_string)
        names, following = PAGES[request.query.get("offset", "0"), request.query.get("to", "")]
        links = [f'<{request.path}?limit=100&offset=0>; rel="first"']
        if following:
            links.append(f'<{request.path}?{following}>; rel="next"')
        headers = {"X-Total-Count": str(len(names)), "Link": ", ".join(links)}
        return web.json_response([{**JOB, "id": name} for name in names], headers=headers)

    async def read(client: AsyncPressroom) -> list[str]:
        return [job.id async for job in client.all_jobs(state="failed")]

    assert asked(answer, read) == ["a", "b", "c", "d"]
    assert queries[0] == "limit=100&state=failed"
    assert len(queries) == len(PAGES)
