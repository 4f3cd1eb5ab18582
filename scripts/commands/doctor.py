"""`pressroom doctor`: checks servers, engines and the ledger."""

import typer
from rich.console import Console
from rich.table import Column, Table

from scripts.commands import SYSTEM, under
from scripts.doctor.finding import Mark
from scripts.options import Data, settings_for
from scripts.terminal import plain

#: Colours repeat the marks' meaning.
COLOURS = {Mark.READY: "green", Mark.ABSENT: "yellow", Mark.MISSING: "red"}
LEGEND = (
    f"{Mark.READY} ready   {Mark.ABSENT} optional and not found: the text says how to get it"
    f"   {Mark.MISSING} needed and missing"
)


def doctor(data: Data = None) -> None:
    """Check every server, the store, the engines and the ledger; exit with 1 if something needed is missing."""
    from scripts.doctor.examination import examine  # imports what workers need

    findings = list(examine(settings_for(data)))
    table = Table("", "what", Column("state", overflow="fold"), header_style="bold")
    for finding in findings:
        table.add_row(f"[{COLOURS[finding.mark]}]{finding.mark}[/]", plain(finding.subject), plain(finding.detail))
    console = Console()
    console.print(table)
    if any(finding.mark is not Mark.READY for finding in findings):
        console.print(LEGEND, markup=False, highlight=False)
    if any(finding.mark is Mark.MISSING for finding in findings):
        raise typer.Exit(1)


register = under(SYSTEM, doctor)
