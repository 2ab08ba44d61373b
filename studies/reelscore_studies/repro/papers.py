"""The papers that reelscore repeats: each table and figure, its command, and what comes out.

`reelscore repro --list` prints this table, and the page docs/papers.md is written from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from reelscore.errors import check_choice
from reelscore.report.safe_text import lines_of

Verdict = Literal["comes out", "in part", "differs", "not public", "illustration"]


class Part(NamedTuple):
    """A table, a figure or an experiment of a paper.

    Attributes:
        name: As the paper counts it.
        about: What it shows.
        command: How to repeat it; empty where there is nothing to repeat.
        verdict: Whether it comes out; ``not public`` is the data, for which the command repeats
            the experiment on your own.
        why: The numbers, and why they differ.
    """

    name: str
    about: str
    command: str
    verdict: Verdict
    why: str = ""


class Paper(NamedTuple):
    """A paper with its parts."""

    key: str
    title: str
    parts: Sequence[Part]


_DA = "reelscore repro direct-assessment --data TRECvid-VTT_HA"
_BERTHA = "reelscore repro bertha --data TRECvid-VTT_HA"
_STUDY = "reelscore caption study rendered1-full"
_FILMS = "The films and their captions are not public; rendered clips replace them."

PAPERS = (
    Paper(
        "direct-assessment",
        "Graham, Awad and Smeaton (2018): Evaluation of automatic video captioning using direct "
        "assessment",
        (
            Part(
                *("Table 1", "how similar the captions of six systems are", _DA, "differs"),
                "The service for semantic similarity is gone. By METEOR, too, Human-b and "
                "Sheffield are the least similar; the order of the other four differs.",
            ),
            Part(
                *("Table 2", "how captions are degraded", "reelscore campaign new", "comes out"),
                "All campaigns use this rule.",
            ),
            Part("Table 3", "degraded captions", "", "illustration"),
            Part(
                *("Table 4", "scores of six systems", _DA, "not public"),
                "The printed means are shown beside those of the second collection, which is "
                "public.",
            ),
            Part(
                *("Table 5", "two collections agree", _DA, "comes out"),
                "r = .995 raw and .997 standardised, as printed.",
            ),
            Part(
                *("Table 6", "metrics against people, five systems", _DA, "in part"),
                "METEOR has −.617 (printed: −.602), BLEU −.412 (.800): the scores of the benchmark "
                "are not public, and ours on its captions rank the systems differently. The "
                "service for STS is gone.",
            ),
            Part(
                *("Figs 1, 2", "BLEU and METEOR of all runs", "reelscore score", "not public"),
                "Only the captions of five runs are public.",
            ),
            Part("Fig 3", "frames of a video", "", "illustration"),
            Part(
                *("Figs 4, 5", "how similar annotators and systems are"),
                *("reelscore analyse similarity -o FILE", "differs"),
                "Any metric replaces the service that is gone.",
            ),
            Part("Fig 6", "the rating page", "reelscore demo campaign", "illustration"),
            Part(
                *("Fig 7", "which systems are better", "reelscore campaign results -o FILE"),
                "not public",
                "The judgments of the first collection are not public.",
            ),
            Part(
                *("Figs 8–10", "metrics against people", "reelscore meta --plots", "in part"),
                "As Table 6.",
            ),
        ),
    ),
    Paper(
        "bertha",
        "Lebron, Graham, McGuinness, Kouramas and O'Connor (2022): BERTHA: video captioning "
        "evaluation via transfer-learned human assessment",
        (
            Part("Fig 1", "two captions", "", "illustration"),
            Part(
                *("Fig 2", "distribution of people's scores", f"{_BERTHA} --plots F", "comes out"),
                "Means −.28 (SA) and −.26 (MA), printed as −.28 and −.25.",
            ),
            Part(
                *("Tables 1, 3", "SA: systems, captions", _BERTHA, "in part"),
                "12 of 40 cells of the four classical metrics, eleven of them of 2019 and 2020. "
                "How those of 2016 to 2018 were computed is not known. Three printed means do not "
                "follow from the printed cells.",
            ),
            Part(
                *("Tables 2, 4", "MA: systems, captions", _BERTHA, "in part"),
                "47 of 50 cells of the five classical metrics (three except for the sign) come out "
                "with the paper's two errors: lines counted from 0, and SPICE in the order of "
                "strings; none of SentBLEU's do. With the right lines the numbers differ. "
                "ROUGE-L's printed mean of Table 2 is .642; its cells give .833. BERTHA differs: "
                "its weights are not public, and ours start from a smaller encoder.",
            ),
            Part(
                *("Figs 3, 4", "Williams tests", f"{_BERTHA} --plots F", "differs"),
                "Drawn as published and with the right lines; the p-values are not in the text.",
            ),
            Part(
                *("Table 5", "one annotator's references, five folds"),
                "reelscore bertha evaluate judged.jsonl --folds 5 --recipe plain-ma --only MA-2020",
                "differs",
                "This uses all five references at once, 'repro bertha' each annotator's. The right "
                "lines raise nearly all numbers; the encoder is MiniLM unless BERT-base is given.",
            ),
            Part(
                *("Table 6", "shuffled words", _BERTHA, "in part"),
                "The shuffle differs: METEOR and CIDEr are within .012 of the printed values.",
            ),
            Part(
                *("Table 7", "fusion by regression", _BERTHA, "differs"),
                "The split differs; the mean of twenty splits is shown.",
            ),
        ),
    ),
    Paper(
        "soda",
        "Fujita, Hirao, Kamigaito, Okumura and Nagata (2020): SODA: story oriented dense video "
        "captioning evaluation framework",
        (
            Part("Figs 1–4", "overlaps and matchings", "reelscore stories show", "illustration"),
            Part(
                *("Table 1", "fewer and more captions", "reelscore stories study counts"),
                "not public",
                "Outputs of the two systems are not public. With 200 random captions a video, the "
                "current framework is 5 % higher than with as many captions as references, and "
                "with fewer 24 % lower. All SODA F-measures are highest with as many; so are the "
                "printed ones, except SODA (a) of the LSTM.",
            ),
            Part(
                *("Table 2", "oracle captions", "reelscore stories study oracle", "not public"),
                "On your systems, with tests of the differences.",
            ),
            Part(
                *("Table 3", "wrong orders", "reelscore stories study order", "not public"),
                "Swapped and shuffled captions score lower, as printed, on all public outputs. "
                "SODA (c) falls more than the current framework on ActivityNet with both "
                "annotators, but by far less than printed, and not in general.",
            ),
            Part(
                *("Sect. 6.3", "manual evaluation", "reelscore stories study people, accuracy"),
                "not public",
                "A kit: stories to compare, the campaign, and each metric's accuracy.",
            ),
        ),
    ),
    Paper(
        "soda-precursor",
        "Fujita, Hirao, Kamigaito, Okumura and Nagata (2020): the Japanese precursor (NLP 2020)",
        (
            Part("Figs 1, 2", "matchings", "reelscore stories show", "illustration"),
            Part(
                *("Table 1", "k captions a video"),
                "reelscore stories study counts --crowd 200 --m '' --k 3,7,15",
                "not public",
                "The system's 200 captions a video are not public; random ones replace them.",
            ),
        ),
    ),
    Paper(
        "movie-description",
        "Rohrbach, Torabi, Rohrbach, Tandon, Pal, Larochelle, Courville and Schiele (2017): Movie "
        "description",
        (
            Part("Figs 1–3", "samples", "", "illustration"),
            Part(
                *(
                    "Fig 4",
                    "narration from two sound tracks",
                    "reelscore repro narration --data movie",
                ),
                "not public",
                "No film of the paper is public. People who describe pictures are found over a "
                "real film with a frame F1 of .961, and .952 if 9 dB quieter.",
            ),
            Part(
                *("Tables 1, 2", "sizes and parts of speech", "reelscore corpus stats"),
                "not public",
            ),
            Part("Table 3", "other corpora", "", "illustration"),
            Part(
                *("Table 4", "a sentence parsed", "reelscore parse", "in part"),
                "'He shot and modified the video' has both clauses and the shared object. The "
                "sense of shoot is the fourth with --senses collocations alone.",
            ),
            Part(
                *("Table 5", "audio description or script"),
                "reelscore campaign new --protocol forced-choice",
                "not public",
            ),
            Part(
                *("Table 6", "the parser judged by people"),
                "reelscore check-parser --campaign, --check-sheet",
                "not public",
                "The sentences are not public, and the cells are not in our text of the paper.",
            ),
            Part(
                *("Tables 7, 8", "translation; labels and features", _STUDY, "in part"),
                f"{_FILMS} Stacked features beat each alone, and 30 or 100 items a label are "
                "alike. That LSDA hurts does not come out; grouping and filter are not decided.",
            ),
            Part(
                *("Table 9", "layers", _STUDY, "differs"),
                "One layer and two unfactored are alike, as printed. Factored is 0.3 METEOR ahead "
                "where the paper has it behind, which five seeds do not decide (p = .27).",
            ),
            Part(
                *("Tables 10, 11", "dropout: where, how much", _STUDY, "in part"),
                "The LSTM's output is the best place at full size (p = .003), not on the small "
                "set, which hardly overfits; a ratio of 0.75 beats the paper's 0.5.",
            ),
            Part(
                *("Tables 12, 13", "methods side by side", f"{_STUDY} --freeze", "in part"),
                f"{_FILMS} The order is the paper's: nearest neighbours, translation, network, "
                "ensemble.",
            ),
            Part("Figs 5, 6", "architectures", "", "illustration"),
            Part("Figs 7, 11, 12", "captions", "reelscore report --captions", "illustration"),
            Part(
                *("Fig 8", "length and frequency of words", "reelscore analyse difficulty"),
                "not public",
            ),
            Part(
                *("Table 14, Fig 9", "topics of verbs", "reelscore analyse topics", "not public"),
            ),
            Part(
                *("Tables 15, 16", "LSMDC: scores, statistics"),
                "reelscore score -m bleu,meteor,rouge_l,cider,spice,diversity",
                "not public",
                "References of the blind test set are not public.",
            ),
            Part(
                *("Table 17", "LSMDC 15: ranks by people"),
                "reelscore campaign new --protocol ranking",
                "not public",
            ),
            Part(
                *("Table 18", "LSMDC 16: points against the reference"),
                "reelscore campaign new --protocol against-reference",
                "not public",
            ),
            Part(
                *("Fig 10", "LSMDC 16: metrics against people", "reelscore meta --plots"),
                "not public",
            ),
        ),
    ),
)

VERDICTS: dict[Verdict, str] = {
    "comes out": "the printed numbers come out again",
    "in part": "some numbers or findings come out",
    "differs": "other numbers, for the reason given",
    "not public": "the data are not public; the command does the same with yours",
    "illustration": "nothing to compute",
}


def chosen_papers(key: str | None) -> Sequence[Paper]:
    """Return all papers, or the one that is named."""
    if key is None:
        return PAPERS
    check_choice("paper", key, [paper.key for paper in PAPERS])
    return [paper for paper in PAPERS if paper.key == key]


def papers_text(papers: Sequence[Paper] = PAPERS, width: int = 80) -> str:
    """Lay the papers out for a terminal.

    >>> paper = Paper("one", "A paper", [Part("Table 1", "all", "reelscore x", "differs", "Why.")])
    >>> print(papers_text([paper]))
    A paper
    <BLANKLINE>
      Table 1: all
        differs. Why.
        reelscore x
    """
    return "\n\n".join("\n".join(_paper_lines(paper, width)) for paper in papers)


def _paper_lines(paper: Paper, width: int) -> Iterator[str]:
    yield from lines_of(paper.title, width)
    yield ""
    for part in paper.parts:
        yield f"  {part.name}: {part.about}"
        for text in (f"{part.verdict}. {part.why}", part.command):
            yield from (f"    {line}" for line in lines_of(text.strip(), width - 4) if line)


def papers_markdown(papers: Sequence[Paper] = PAPERS) -> str:
    """Write the page of the documentation.

    >>> print(papers_markdown().splitlines()[0])
    # The papers, table by table
    """
    lines = [
        "# The papers, table by table",
        "",
        "reelscore repeats five papers. For each of their tables and figures, this page has the "
        "command and whether the numbers come out. `reelscore repro --list` prints the same, "
        "`reelscore repro --list --paper bertha` for one paper.",
        "",
        *(f"*{verdict}*\n: {meaning}\n" for verdict, meaning in VERDICTS.items()),
    ]
    for paper in papers:
        lines += [f"## {paper.title}", "", "| | | command | |", "|---|---|---|---|"]
        lines += [
            f"| {part.name} | {part.about} | {f'`{part.command}`' if part.command else ''} "
            f"| {' '.join([f'*{part.verdict}.*', part.why]).strip()} |"
            for part in paper.parts
        ]
        lines.append("")
    return "\n".join(lines)
