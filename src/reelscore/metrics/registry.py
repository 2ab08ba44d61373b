"""Names of metrics, and metrics from names and signatures.

A metric of another package joins by the entry point group ``reelscore.metrics``.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from urllib.parse import unquote

from reelscore.data.scales import HIGHER, Scale
from reelscore.errors import DataError, ReelscoreError, UnknownNameError
from reelscore.metrics.base import Metric
from reelscore.text.tokens import Tokenizer, tokenizer_of

_BUILT_IN = {
    "bleu": "reelscore.metrics.bleu:Bleu",
    "meteor": "reelscore.metrics.meteor:Meteor",
    "rouge_l": "reelscore.metrics.rouge_l:RougeL",
    "cider": "reelscore.metrics.cider:Cider",
    "sent_bleu": "reelscore.metrics.sent_bleu:SentBleu",
    "spice": "reelscore.metrics.spice:Spice",
    "self_bleu": "reelscore.metrics.self_bleu:SelfBleu",
    "diversity": "reelscore.metrics.diversity:Diversity",
    "bertha": "reelscore.learned.bertha:Bertha",
    "sts": "reelscore.learned.sts:Sts",
    "fusion": "reelscore.learned.fusion:Fusion",
    "bertscore": "reelscore.judges.bertscore:BertScore",
    "judge": "reelscore.judges.judge:Judge",
}

# Scores of stories are made by `reelscore.stories`; here they are named for tables that have them.
_OF_STORIES = {"activitynet": "reelscore.stories.video_scores:ActivityNet"}

DEFAULT_METRICS = ("bleu", "meteor", "rouge_l", "cider")


def metric_names() -> list[str]:
    """All metrics that can be named, those of plugins included.

    >>> metric_names()[:4]
    ['bleu', 'meteor', 'rouge_l', 'cider']
    """
    return [*_BUILT_IN, *_plugins()]


def metric_class(name: str) -> type[Metric]:
    """Import the class of a metric by name.

    >>> metric_class("rouge_l").__name__
    'RougeL'
    """
    target = _BUILT_IN.get(name) or _plugins().get(name)
    if target is None:
        raise UnknownNameError.of(
            "metric", name, metric_names(), "See 'reelscore metrics' for the list."
        )
    return _loaded(target)


def _loaded(target: str) -> type[Metric]:
    module, _, attribute = target.partition(":")
    metric: type[Metric] = getattr(import_module(module), attribute)
    return metric


def parse(signature: str) -> Metric:
    """Rebuild a metric from its signature, or build one from a name and a few parameters.

    Args:
        signature: ``name|parameter:value|…``; parameters left out take their defaults.

    >>> parse("cider|variant:plain")
    Cider(n=4, sigma=6.0, variant='plain', frequencies=None)
    >>> metric = parse("bleu|n:2")
    >>> parse(metric.signature(tok="ptb", v="0.1.0")) == metric
    True
    """
    name, parameters = _parts(signature)
    return metric_class(name).from_parameters(parameters)


def rebuilt(signature: str) -> tuple[Metric, Tokenizer] | None:
    """Rebuild a metric, and the tokenizer it was given, from the signature of a score.

    Args:
        signature: The signature in a table.

    Returns:
        Both; ``None`` where the signature is of a version that this one does not understand.

    >>> rebuilt("rouge_l|beta:1.2|tok:ptb-coco|v:0.1.0")
    (RougeL(beta=1.2), 'ptb-coco')
    >>> rebuilt("rouge_l|gamma:1")
    """
    try:
        name, parameters = _parts(signature)
        metric = metric_class(name).from_parameters(parameters)
    except ReelscoreError:
        return None
    return metric, tokenizer_of(unquote(parameters.get("tok", "ptb")))


def _parts(signature: str) -> tuple[str, dict[str, str]]:
    """Divide a signature into the metric's name and its parameters and context."""
    name, *parts = signature.strip().split("|")
    parameters: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon:
            raise DataError(
                f"{signature!r}: {part!r} is not of the form parameter:value, as in 'bleu|n:4'."
            )
        if key in parameters:
            raise DataError(f"{signature!r}: {key!r} is given twice; give it once.")
        parameters[key] = value
    return name, parameters


def declared_scale(name: str, signature: str = "") -> Scale:
    """How a metric declares that a score is to be read; for tables that do not say it themselves.

    Args:
        name: The score's name, such as ``bleu_4``.
        signature: How it was made, where that is known.

    >>> declared_scale("self_bleu").better, declared_scale("length", "diversity|v:0.1.0").better
    ('low', 'neither')
    >>> declared_scale("adequacy") == HIGHER
    True
    """
    metric = declaring_metric(name, signature)
    return HIGHER if metric is None else metric.scale_of(name)


def declaring_metric(name: str, signature: str = "") -> Metric | None:
    """Find the metric that gives a score; ``None`` where it is not known here.

    Args:
        name: The score's name, such as ``bleu_4``.
        signature: How it was made, where that is known.

    >>> declaring_metric("bleu_2")
    Bleu(n=4)
    """
    head = signature.partition("|")[0]
    plugins = [each for each in (head, name) if each in _plugins()]
    known = [head] if head in _BUILT_IN or head in _OF_STORIES else _BUILT_IN
    for candidate in plugins or known:
        try:
            metric = _made(candidate, signature if candidate == head else "")
        except (ReelscoreError, ImportError, TypeError):
            continue  # it cannot be loaded here, or needs parameters that are not known
        if name in metric.outputs:
            return metric
    return None


def _made(name: str, signature: str) -> Metric:
    if name in _OF_STORIES:
        return _loaded(_OF_STORIES[name]).from_parameters(_parts(signature)[1])
    return parse(signature) if signature else metric_class(name)()


def resolve(metrics: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Turn names, signatures and metrics into metrics; one name may list several with commas.

    >>> [metric.name for metric in resolve("bleu,meteor")]
    ['bleu', 'meteor']
    """
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise DataError(f"The metrics are {metrics!r}; expected names, signatures or metrics.")
    chosen: list[Metric] = []
    for metric in metrics:
        if isinstance(metric, Metric):
            chosen.append(metric)
        elif isinstance(metric, str):
            chosen.extend(parse(part.strip()) for part in metric.split(",") if part.strip())
        else:
            raise DataError(
                f"{metric!r} is not a metric; expected a name, a signature or a metric."
            )
    if not chosen:
        raise DataError("No metric given. See 'reelscore metrics' for the list.")
    outputs = [output for metric in chosen for output in metric.outputs]
    twice = {output for output in outputs if outputs.count(output) > 1}
    if twice:
        raise DataError(f"Metric {min(twice)!r} is named twice; name each once.")
    return chosen


def _plugins() -> dict[str, str]:
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    return {entry.name: entry.value for entry in entry_points(group="reelscore.metrics")}
