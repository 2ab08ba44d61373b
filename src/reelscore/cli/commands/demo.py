"""``reelscore demo``."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click

from reelscore import examples
from reelscore.cli.options import number_option
from reelscore.cli.report_options import Pictures, html_option
from reelscore.cli.table_options import People
from reelscore.cli.terminal import show, terminal_width
from reelscore.errors import MissingExtraError
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import leaderboard
from reelscore.scoring.captions import score_systems
from reelscore.scoring.intervals import with_intervals
from reelscore.significance.pair_tests import compare
from reelscore.text.tokens import tokenize
from reelscore.web.server import need_web, run
from reelscore.wings import load, wings


@click.command("demo")
@click.argument(
    "what",
    type=click.Choice(["clips", "campaign", "challenge", "corpus"]),
    default="clips",
    metavar="[clips|campaign|challenge|corpus]",
)
@html_option
@number_option("--port", default=8000, least=1, most=65535)
@click.option(
    "--folder",
    default="corpus-demo",
    show_default=True,
    metavar="FOLDER",
    help="Of a corpus: the folder to make, for the films, the project and the files.",
)
def command(what: str, html_file: str | None, port: int, folder: str) -> None:
    """Score the embedded example and show what reelscore does.

    The example has fifteen clips with three references each, captioned by a person and by three
    systems of decreasing quality. The files are in the package; the last lines show where.

    'demo campaign' serves a campaign on these clips until Ctrl+C: rate some captions, then view
    it as its organiser. Moving shapes stand in for the videos. Nothing is saved.

    'demo challenge' serves a challenge on these clips, in which four teams take part: look at
    its leaderboard, take part yourself, or become its owner. Nothing is saved.

    'demo corpus' makes four small films, and a corpus of described clips from them, step by
    step, from their sound to scores. All that is made stays in a folder to look at.
    """
    if what != "clips":
        demos = {name: it for wing in wings() for name, it in getattr(wing, "DEMOS", {}).items()}
        if what not in demos:
            raise MissingExtraError.of(f"'reelscore demo {what}' is a study", "reelscore-studies")
        if what == "corpus":
            load(demos[what])(folder)
        else:
            _serve(demos[what], port)
        return
    pictures = Pictures(html_file, "Four systems, fifteen clips")
    systems, references = examples.clips()

    _heading("Four systems, 15 clips, 3 references each; ± half a 95 % interval")
    table = score_systems(systems, references)
    show(table, leaderboard(with_intervals(table)))

    _heading("Is the difference to 'strong' more than chance? (p, approximate randomization)")
    rows: dict[str, list[Cell]] = {}
    for tests in compare(table, "strong", tests=["randomization"]):
        for pair in tests.pairs:
            mark = "" if pair.verdict == "not significant" else "*"
            cell = Cell(f"{pair.p_corrected:.4f}", mark)
            rows.setdefault(pair.system, [Cell(pair.system)]).append(cell)
    grid = Grid(["system", *table.labels.values()], list(rows.values()))
    click.echo(grid.to_text(terminal_width()))

    _heading("Where 'strong' and 'human' differ most, by METEOR")
    human, strong = table["human"]["meteor"].items, table["strong"]["meteor"].items
    worst = max(human, key=lambda item: human[item] - strong[item])
    for name, caption in [
        *(
            (f"{name} {table[name]['meteor'].items[worst]:.2f}", systems[name][worst])
            for name in ("human", "strong")
        ),
        *(("reference", text) for text in references[worst]),
    ]:
        click.echo(f"{worst}  {name:<11} {caption}")

    _heading("How varied are the captions?")
    variety = score_systems(systems, metrics="diversity,self_bleu")
    click.echo(leaderboard(variety).to_text(terminal_width()))

    _heading("What the metrics see")
    caption = references["clip01"][0]
    click.echo(f"{caption}\n{tokenize([caption])[0]}")

    pictures.write(table, People(str(examples.path("clips/judgments.csv"))).read())

    _heading("Try it on these files, then on yours")
    clips = examples.path("clips")
    click.echo(f"cd {clips}")
    click.echo("reelscore score systems/*.json --refs references.json --intervals")
    click.echo("reelscore compare systems/*.json --refs references.json --all-pairs")
    click.echo("reelscore score systems/*.json --refs references.json --html report.html")


def _serve(demo: str, port: int) -> None:
    """Serve what a wing shows, until told to stop."""
    need_web()
    with TemporaryDirectory() as folder:
        run(load(demo)(Path(folder), f"http://127.0.0.1:{port}"), "127.0.0.1", port)


def _heading(text: str) -> None:
    click.echo("\n" + click.style(text, bold=True))
