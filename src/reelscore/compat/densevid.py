"""The ActivityNet Captions scorer without Java: its class, arguments, attributes and numbers.

Change the import line and leave the rest::

    from reelscore.compat.densevid import ANETcaptions

It serves code written for densevid_eval and for its copies, as in PDVC. Differences, all on
purpose: ``variant`` chooses the version (``"2017-fixed"`` for PDVC's ``evaluate2018``, which
compares with ``abc123!@#``); detection is always scored; files that are bad raise
`reelscore.DataError`, which says where; nothing is printed unless ``verbose``.
"""

from __future__ import annotations

from collections.abc import Sequence

import click

from reelscore.data.file_names import PathLike
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError
from reelscore.scoring.scores import Scores
from reelscore.stories.protocol import Variant, preset
from reelscore.stories.story_scorer import StoryScorer
from reelscore.stories.video_scores import PREFIX

__all__ = ["ANETcaptions", "eval_dvc"]

_NAMES = {
    "bleu_1": "Bleu_1",
    "bleu_2": "Bleu_2",
    "bleu_3": "Bleu_3",
    "bleu_4": "Bleu_4",
    "meteor": "METEOR",
    "rouge_l": "ROUGE_L",
    "cider": "CIDEr",
    "precision": "Precision",
    "recall": "Recall",
}


class ANETcaptions:
    """Score a submission file against ground truth files.

    Attributes:
        scores: After `evaluate`, for each metric its value at each threshold: ``METEOR``,
            ``Recall``, ``Precision``, with ``verbose`` also ``Bleu_1`` to ``Bleu_4``, ``ROUGE_L``
            and ``CIDEr``.
        results: After `evaluate`, the same with videos and signatures.

    >>> from reelscore import examples
    >>> scorer = ANETcaptions(
    ...     ground_truth_filenames=[examples.path("stories/annotator_1.json"),
    ...                             examples.path("stories/annotator_2.json")],
    ...     prediction_filename=examples.path("stories/systems/concise.json"),
    ...     tious=[0.3, 0.5], max_proposals=1000)
    >>> scorer.evaluate()
    >>> [round(value, 4) for value in scorer.scores["METEOR"]]
    [0.2193, 0.2342]
    """

    PREDICTION_FIELDS = ("results", "version", "external_data")

    def __init__(
        self,
        ground_truth_filenames: Sequence[PathLike] | None = None,
        prediction_filename: PathLike | None = None,
        tious: Sequence[float] | None = None,
        max_proposals: int = 1000,
        prediction_fields: Sequence[str] = PREDICTION_FIELDS,
        verbose: bool = False,
        no_lang_eval: bool = False,
        *,
        variant: Variant = "2018-11",
    ) -> None:
        if not tious:
            raise DataError("tious is empty; expected thresholds such as [0.3, 0.5, 0.7, 0.9].")
        if not ground_truth_filenames:
            raise DataError("ground_truth_filenames is empty; expected at least one file.")
        if not prediction_filename:
            raise DataError("prediction_filename is empty; expected a file.")
        self.verbose = verbose
        self.tious = tious
        self.max_proposals = max_proposals
        self.pred_fields = prediction_fields
        metrics = ("bleu", "meteor", "rouge_l", "cider") if verbose else ("meteor",)
        self._names = {} if no_lang_eval else _NAMES
        protocol = preset("anet-challenge").but(
            tious=tious, max_captions=max_proposals, metrics=metrics, variant=variant
        )
        self.ground_truths = [
            read_stories(path, protocol.policies) for path in ground_truth_filenames
        ]
        self.prediction = read_stories(prediction_filename, protocol.policies)
        self._scorer = StoryScorer(self.ground_truths, protocol)
        self.scores: dict[str, list[float]] = {}
        self.results: Scores | None = None

    def evaluate(self) -> None:
        """Score; fills ``scores`` and ``results``."""
        self.results = self._scorer.score(self.prediction)
        wanted = [name for name in self._names if PREFIX + name in self.results]
        wanted += [name for name in ("recall", "precision") if name not in wanted]
        self.scores = {
            _NAMES[name]: list(self.results[PREFIX + name].by_tiou.values()) for name in wanted
        }
        if self.verbose:
            for name, values in self.scores.items():
                for tiou, value in zip(self.tious, values, strict=True):
                    click.echo(f"Calculated tIoU: {tiou:1.1f}, {name}: {value:0.3f}")


def eval_dvc(
    json_path: PathLike,
    reference: Sequence[PathLike],
    no_lang_eval: bool = False,
    topN: int = 1000,
    version: str = "2018",
) -> dict[str, list[float]]:
    """PDVC's function of this name; its version ``2018`` is our variant ``2017-fixed``.

    Args:
        json_path: The submission file.
        reference: The ground truth files.
        no_lang_eval: Leave out the metrics of the sentences.
        topN: How many captions of each video count.
        version: ``2018`` or another, which stands for ours of November 2018.

    >>> from reelscore import examples
    >>> scores = eval_dvc(examples.path("stories/systems/concise.json"),
    ...                   [examples.path("stories/annotator_1.json")])
    >>> sorted(scores), scores["tiou"]
    (['METEOR', 'Precision', 'Recall', 'tiou'], [0.3, 0.5, 0.7, 0.9])
    """
    tious = [0.3, 0.5, 0.7, 0.9]
    scorer = ANETcaptions(
        reference,
        json_path,
        tious,
        topN,
        no_lang_eval=no_lang_eval,
        variant="2017-fixed" if version == "2018" else "2018-11",
    )
    scorer.evaluate()
    return {**scorer.scores, "tiou": tious}
