"""Names of metrics, and metrics from names and signatures.

Names are understood in any spelling: ``METEOR``, ``CIDEr-D``, ``bleu4``. Metrics of other packages
join by an entry point: see `reelscore.metrics.plugins`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module

import msgspec

from reelscore.data.tables.scales import HIGHER, Scale, output_name, plain_name
from reelscore.errors import DataError, ReelscoreError, UnknownNameError
from reelscore.metrics.base import Metric, changed_parameters, unquoted
from reelscore.metrics.plugins import plugin_class, plugin_entries, plugin_refusals
from reelscore.text.tokens import Tokenizer, tokenizer_of

_BUILT_IN = {
    "bleu": "reelscore.metrics.bleu:Bleu",
    "meteor": "reelscore.metrics.meteor:Meteor",
    "rouge_l": "reelscore.metrics.rouge_l:RougeL",
    "cider": "reelscore.metrics.cider:Cider",
    "sent_bleu": "reelscore.metrics.sent_bleu:SentBleu",
    "spice": "reelscore.metrics.spice:Spice",
    "meteor_universal": "reelscore.metrics.meteor_universal:MeteorUniversal",
    "self_bleu": "reelscore.metrics.self_bleu:SelfBleu",
    "diversity": "reelscore.metrics.diversity:Diversity",
    "right_answers": "reelscore.metrics.right_answers:RightAnswers",
    "bertha": "reelscore.learned.metrics.bertha:Bertha",
    "sts": "reelscore.learned.metrics.sts:Sts",
    "fusion": "reelscore.learned.metrics.fusion:Fusion",
    "bertscore": "reelscore.learned.metrics.bertscore:BertScore",
    "clipscore": "reelscore.learned.metrics.clipscore:ClipScore",
    "refclipscore": "reelscore.learned.metrics.clipscore:RefClipScore",
    "emscore": "reelscore.learned.metrics.emscore:EmScore",
    "judge": "reelscore.learned.judges.judge:Judge",
    "events": "reelscore.learned.judges.events:Events",
    "questions": "reelscore.learned.judges.questions:Questions",
    "recall_within": "reelscore.learned.metrics.recall_within:RecallWithin",
    "critic": "reelscore.learned.judges.critic:Critic",
}

# Scores of stories are made by `reelscore.stories`; here they are named for tables that have them.
_OF_STORIES = {
    "activitynet": "reelscore.stories.video_scores:ActivityNet",
    "chapters": "reelscore.stories.video_scores:ChapterScores",
    "soda_a": "reelscore.stories.video_scores:SodaA",
    "soda_b": "reelscore.stories.video_scores:SodaB",
    "soda_c": "reelscore.stories.video_scores:SodaC",
}

DEFAULT_METRICS = ("bleu", "meteor", "rouge_l", "cider")


# Other names that papers and tools use, without capitals and signs between their parts.
_ALIASES = {
    "berthasmall": "bertha|model:reelscore-bertha-small",
    "ciderd": "cider|variant:d",
    "ciderplain": "cider|variant:plain",
    "ensemble": "fusion",
    "sentencebleu": "sent_bleu",
}

# The row that papers on audio description print; see `_row`.
_AUDIO_DESCRIPTION = "ad"

_RESERVED = {_AUDIO_DESCRIPTION, *map(plain_name, (*_BUILT_IN, *_OF_STORIES)), *_ALIASES}


class MetricColumns(msgspec.Struct, frozen=True):
    """A metric, and the columns that its scores have in one table."""

    metric: Metric
    # what its scores are called in the table: their own names, with the parameters of the variant
    # where the table has the metric twice
    names: tuple[str, ...]
    wanted: tuple[str, ...]  # those of the names that were asked for

    @property
    def main(self) -> str:
        """The score that stands for the metric: that with the metric's name, or the last."""
        return next((n for n in self.wanted if output_name(n) == self.metric.name), self.wanted[-1])

    @property
    def judged(self) -> tuple[str, ...]:
        """The scores to judge: those that were named, or the main one of a metric as a whole."""
        return (self.main,) if self.wanted == self.names else self.wanted


def metric_names() -> list[str]:
    """All metrics that can be named, those of plug-ins included.

    >>> metric_names()[:4]
    ['bleu', 'meteor', 'rouge_l', 'cider']
    """
    return [*_BUILT_IN, *plugin_entries(_RESERVED)]


def metric_class(name: str) -> type[Metric]:
    """Import the class of a metric by name.

    Raises:
        UnknownNameError: If there is no such metric.
        DataError: If it is a plug-in that cannot be used.

    >>> metric_class("rouge_l").__name__, metric_class("METEOR").__name__
    ('RougeL', 'Meteor')
    """
    return _class(standard_name(name)[0].partition("|")[0])


def _class(name: str) -> type[Metric]:
    if name in _BUILT_IN:
        return _loaded(_BUILT_IN[name])
    entries = plugin_entries(_RESERVED)
    if name not in entries:
        raise UnknownNameError.of("metric", name, metric_names())
    return plugin_class(entries[name])


def _loaded(target: str) -> type[Metric]:
    module, _, attribute = target.partition(":")
    metric: type[Metric] = getattr(import_module(module), attribute)
    return metric


def standard_name(name: str) -> tuple[str, str]:
    """Find what somebody means by a name, in any spelling.

    >>> standard_name("METEOR"), standard_name("CIDEr-D"), standard_name("bleu4")
    (('meteor', ''), ('cider|variant:d', ''), ('bleu', 'bleu_4'))
    """
    if name in _BUILT_IN:
        return name, ""
    plain = plain_name(name)
    for known in metric_names():
        if plain == plain_name(known):
            return known, ""
    if alias(name):
        return alias(name), ""
    refused = {plain_name(known): why for known, why in plugin_refusals(_RESERVED).items()}
    if plain in refused:
        raise DataError(refused[plain])
    scores: dict[str, str] = {}
    for known in metric_names():
        for output, scale in _declared(known).items():
            if plain and plain in (plain_name(output), plain_name(scale.label)):
                return known, output
            scores[output] = known
    raise UnknownNameError.of(
        "metric", name, [*metric_names(), *scores], "See 'reelscore metrics' for the list."
    )


def alias(name: str) -> str:
    """Return the signature that another name of a metric stands for; empty where it is none.

    >>> alias("CIDEr-D"), alias("meteor")
    ('cider|variant:d', '')
    """
    return _ALIASES.get(plain_name(name), "")


def unusable_plugins() -> list[str]:
    """Return of each metric of another package that cannot be used why it cannot."""
    problems = list(plugin_refusals(_RESERVED).values())
    for entry in plugin_entries(_RESERVED).values():
        try:
            plugin_class(entry)
        except DataError as error:
            problems.append(str(error))
    return problems


def _declared(name: str) -> dict[str, Scale]:
    """The scores of a metric with its defaults; none where it cannot be made without more."""
    try:
        metric = _class(name)()
    except (ReelscoreError, ImportError, TypeError):
        return {}
    return dict(zip(metric.outputs, metric.output_scales, strict=True))


def parse_signature(signature: str) -> Metric:
    """Rebuild a metric from its signature, or build one from a name and a few parameters.

    Args:
        signature: ``name|parameter:value|…``; parameters left out take their defaults.

    >>> parse_signature("cider|variant:plain")
    Cider(n=4, sigma=6.0, variant='plain', frequencies=None)
    >>> metric = parse_signature("bleu|n:2")
    >>> parse_signature(metric.signature(tok="ptb", v="0.1.0")) == metric
    True
    """
    return parse_score(signature)[0]


def parse_score(signature: str) -> tuple[Metric, str]:
    """Build the metric that a name or a signature means, and say which of its scores.

    >>> parse_score("BLEU-4"), parse_score("rouge-l|beta:1")
    ((Bleu(n=4), 'bleu_4'), (RougeL(beta=1.0), ''))
    """
    head, bar, parameters = signature.strip().partition("|")
    standard, output = standard_name(head)
    name, values = _parts(f"{standard}{bar}{parameters}")
    metric = _class(name).from_parameters(values)
    if output and output not in metric.outputs:
        raise DataError(f"{signature!r} gives no {output!r}; it gives {', '.join(metric.outputs)}.")
    return metric, output


def rebuilt(signature: str) -> tuple[Metric, Tokenizer] | None:
    """Rebuild a metric, and the tokenizer it was given, from the signature of a score."""
    try:
        name, parameters = _parts(signature)
        metric = _class(name).from_parameters(parameters)
    except ReelscoreError:
        return None
    return metric, tokenizer_of(unquoted(parameters.get("tok", "ptb")))


def _parts(signature: str) -> tuple[str, dict[str, str]]:
    """Divide a signature into the metric's name and its parameters and context."""
    name, *parts = signature.strip().split("|")
    return name, key_values(parts, repr(signature), "parameter:value, as in 'bleu|n:4'")


def key_values(parts: Iterable[str], where: str, form: str = "key:value") -> dict[str, str]:
    """Divide what stands between the bars of a signature into keys and values.

    >>> key_values(["n:4", "tok:ptb"], "bleu")
    {'n': '4', 'tok': 'ptb'}
    """
    values: dict[str, str] = {}
    for part in parts:
        key, colon, value = part.partition(":")
        if not colon:
            raise DataError(f"{where}: {part!r} is not of the form {form}.")
        if key in values:
            raise DataError(f"{where}: {key!r} is given twice; give it once.")
        values[key] = value
    return values


def declared_scale(name: str, signature: str = "") -> Scale:
    """How a metric says that a score is to be read; for tables that do not say it themselves."""
    metric = declaring_metric(name, signature)
    return HIGHER if metric is None else metric.scale_of(name)


def declaring_metric(name: str, signature: str = "") -> Metric | None:
    """Find the metric that gives a score; ``None`` where it is not known here.

    >>> declaring_metric("bleu_2")
    Bleu(n=4)
    """
    output, _, variant = name.partition("|")
    head = signature.partition("|")[0]
    others = plugin_entries(_RESERVED)
    plugins = [each for each in (head, output) if each in others]
    known = [head] if head in _BUILT_IN or head in _OF_STORIES else _BUILT_IN
    for candidate in plugins or known:
        made = signature if candidate == head else f"{candidate}|{variant}".rstrip("|")
        try:
            metric = _made(candidate, made)
        except (ReelscoreError, ImportError, TypeError):
            continue  # it cannot be loaded here, or needs parameters that are not known
        if output in metric.outputs:
            return metric
    return None


def _made(name: str, signature: str) -> Metric:
    kind = _loaded(_OF_STORIES[name]) if name in _OF_STORIES else _class(name)
    return kind.from_parameters(_parts(signature)[1])


def resolve(metrics: str | Metric | Iterable[str | Metric]) -> list[Metric]:
    """Turn names, signatures and metrics into metrics; one name may list several with commas.

    >>> [metric.name for metric in resolve("BLEU,meteor")]
    ['bleu', 'meteor']
    """
    return [columns.metric for columns in table_columns(metrics)]


def table_columns(metrics: str | Metric | Iterable[str | Metric]) -> list[MetricColumns]:
    """Turn names, signatures and metrics into metrics, with the columns of a table.

    A metric may come in several variants, and of a metric with several scores some may be named.

    >>> [columns.wanted for columns in table_columns("bleu4,cider,cider|variant:plain")]
    [('bleu_4',), ('cider',), ('cider|variant:plain',)]
    """
    asked: dict[Metric, list[str]] = {}
    for metric, output in _asked(metrics):
        scores = asked.setdefault(metric, [])
        for score in [output] if output else metric.outputs:
            if score in scores:
                raise DataError(f"Metric {score!r} is named twice; name each once.")
            scores.append(score)
    if not asked:
        raise DataError("No metric given. See 'reelscore metrics' for the list.")
    names = _names(list(asked))
    return [
        MetricColumns(
            metric,
            tuple(names[metric].values()),
            tuple(names[metric][output] for output in metric.outputs if output in scores),
        )
        for metric, scores in asked.items()
    ]


def _asked(metrics: str | Metric | Iterable[str | Metric]) -> Iterator[tuple[Metric, str]]:
    if isinstance(metrics, (str, Metric)):
        metrics = [metrics]
    if not isinstance(metrics, Iterable):
        raise DataError(f"The metrics are {metrics!r}; expected names, signatures or metrics.")
    for metric in metrics:
        if isinstance(metric, Metric):
            yield metric, ""
        elif isinstance(metric, str):
            parts = [name for part in metric.split(",") if part.strip() for name in _row(part)]
            yield from map(parse_score, parts)
        else:
            raise DataError(
                f"{metric!r} is not a metric; expected a name, a signature or a metric."
            )


def _row(name: str) -> list[str]:
    """Return the metrics that a name stands for: itself, or those of a row of papers.

    A parameter ``cast`` adds CRITIC, all others are those of a judge.

    >>> _row("meteor"), _row("ad|cast:names.txt")
    (['meteor'], ['cider', 'recall_within|k:5', 'critic|cast:names.txt'])
    """
    head, *parameters = name.strip().split("|")
    if plain_name(head) != _AUDIO_DESCRIPTION:
        return [name]
    cast = [each for each in parameters if each.startswith("cast:")]
    model = [each for each in parameters if each not in cast]
    critic = ["|".join(["critic", *cast])] if cast else []
    judge = ["|".join(["judge", "prompt:llm-ad-eval", *model])] if model else []
    return ["cider", "recall_within|k:5", *critic, *judge]


def _names(metrics: Sequence[Metric]) -> dict[Metric, dict[str, str]]:
    """Name the scores of some metrics, so that no two have the same name."""
    outputs = [output for metric in metrics for output in metric.outputs]
    names = {
        metric: {
            output: f"{output}|{changed}"
            if outputs.count(output) > 1 and (changed := changed_parameters(metric))
            else output
            for output in metric.outputs
        }
        for metric in metrics
    }
    owners: dict[str, Metric] = {}
    for metric, own in names.items():
        for name in own.values():
            other = owners.setdefault(name, metric)
            if other is not metric:
                raise DataError(
                    f"{other.name} and {metric.name} both give a score {name!r}; use one of them."
                )
    return names
