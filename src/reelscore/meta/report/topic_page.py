"""Topics of verbs in a report: what the references speak of, and what each system does."""

from __future__ import annotations

from reelscore.errors import DataError
from reelscore.meta.report.topic_tables import share_grid
from reelscore.meta.topics import topic_table
from reelscore.report.html.contents import Report, Section
from reelscore.text.parser.sentences import parse


def topic_section(report: Report, threads: int | None = None) -> Section:
    """Count the verbs of a report's references and captions by topic.

    Args:
        report: The report, with captions and references.
        threads: How many threads to use; ``None`` for all cores.

    Raises:
        DataError: If the report has no captions.
        MissingExtraError: If the parser is not installed.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> report = Report(score_systems(systems, references, "rouge_l"), captions=systems,
    ...                 references=references)
    >>> topic_section(report).grids[0].columns
    ['topic', 'references', 'human', 'strong', 'weak', 'broken']
    """
    if not report.captions:
        raise DataError("Topics are those of the captions' verbs; the report has no captions.")
    tables = {}
    if report.references:
        tables["references"] = topic_table(parse(report.references, threads=threads))
    for system, captions in report.captions.items():
        tables[system] = topic_table(parse(captions, threads=threads))
    text = (
        "Share of each topic among all verbs, in per cent. The topic of a verb is its group in "
        "WordNet, by its first sense."
    )
    return Section("Topics of verbs", [text], [share_grid(tables)])
