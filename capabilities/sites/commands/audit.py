"""`pressroom audit`: the alternative texts of a page, or of all pages of a sitemap."""

import asyncio
import csv
import html
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pipeline.csv_cells import defused
from scripts.commands import SERVICE, under
from scripts.options import Data, settings_for
from scripts.terminal import check_outputs, show_table, tell

if TYPE_CHECKING:
    from capabilities.sites.audit.rules import Audited

HEAD = ("page", "picture", "alt", "fault", "advice")
#: The page loads nothing and runs nothing.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def audit(
    url: Annotated[str, typer.Argument(help="A page, or a sitemap or feed to audit all its pages.")],
    out: Annotated[Path | None, typer.Option("--csv", help="Write the findings to a CSV file.")] = None,
    page: Annotated[Path | None, typer.Option(help="Write the findings to an HTML page.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="Most pages of a sitemap.")] = 1_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Overwrite files that exist.")] = False,
    data: Data = None,
) -> None:
    """List pictures without a good alt text, free of charge. Exits with 1 if there are any."""
    from capabilities.sites.audit.rules import rows  # lxml

    check_outputs([file for file in (out, page) if file is not None], overwrite=overwrite)
    audited = asyncio.run(_audit(url, data, limit))
    lines = [[defused(cell) for cell in row] for one in audited for row in rows(one.findings)]
    if out is not None:
        with out.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([HEAD, *lines])
    if page is not None:
        page.write_text(_page(url, lines), "utf-8")
    show_table("Findings", HEAD, lines)
    for one in audited:
        if one.error is not None:
            tell(f"{one.page}: {one.error}")
    tell(f"{len(lines):,} findings on {len(audited):,} pages.")
    if lines or any(one.error for one in audited):
        raise typer.Exit(1)


async def _audit(url: str, data: Path | None, limit: int) -> "list[Audited]":
    from capabilities.sites.audit.rules import audit_pages  # aiohttp

    return [one async for one in audit_pages(url, settings_for(data), most=limit)]


def _page(url: str, lines: list[list[str]]) -> str:
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    body = "\n".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in line) + "</tr>" for line in lines)
    title = f"Alternative texts of {html.escape(url)}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><title>{title}</title></head>\n'
        f'<body><h1>{title}</h1>\n<table border="1" cellpadding="8"><tr>{head}</tr>\n{body}\n</table></body></html>\n'
    )


register = under(SERVICE, audit)
