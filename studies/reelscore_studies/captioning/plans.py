"""Plans of studies: TOML files that say which captioners are compared, on what, and how often."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import msgspec

from reelscore._records import resolved
from reelscore.errors import DataError, UnknownNameError, about_system, check_choice
from reelscore.metrics.registry import table_columns
from reelscore_studies.baselines.clip_features import MissingItems
from reelscore_studies.baselines.labels.visual_labels import group_name
from reelscore_studies.baselines.networks.training_run import NetworkRecipe

# fmt: off
Method = Literal[
    "labels", "oracle", "ensemble", "translation", "nearest", "bound", "constant", "random", "human"
]
# fmt: on
RENDERED = ("rendered1-tiny", "rendered1-small", "rendered1-full")
# Methods that see the answers, or are people: they bound what systems reach, and are none.
_BOUNDS = ("bound", "oracle", "human")
# Methods whose captions depend on the seed.
SEEDED = ("labels", "oracle", "random")
_NETWORK = (
    *("hidden", "embedding", "opt", "rate", "step", "decay", "batch", "iterations", "every"),
    *("patience", "min_count"),
)


class Row(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row of a table.

    Attributes:
        table: The table it is in, such as ``t8``.
        name: Its name; rows of one name and table are refused.
        method: How captions are made: ``labels`` and a network, ``oracle``: the true labels and a
            network, ``ensemble`` of a row's seeds, ``translation``, ``nearest`` neighbour,
            retrieval upper ``bound``, best ``constant`` sentence, a ``random`` training caption,
            or another caption by a ``human``.
        against: The row it is tested against.
        of: The row whose networks an ensemble joins.
        groups: Whether the study's groups of labels have classifiers and features of their own; or
            the features of other groups.
        features: The features of labels without groups, and of nearest neighbours.
        negatives: As in `reelscore caption labels`.
        auc: The AUC a label needs; 0 keeps all.
        auc_lower: As in `reelscore caption labels`.
        minimum: In how many items a label must occur.
        cross_fit: As in `reelscore caption labels`.
        labels_of: The row whose kept labels are used, with this row's features.
        noise_scores: How many columns of pure noise are added to the label scores.
        arch: As in `reelscore caption train`.
        dropout: As in `reelscore caption train`.
        ratio: As in `reelscore caption train`.
        beam: As in `reelscore caption generate`.
        kind: Tuples of words or of senses.
        pairs: As in `reelscore caption translate`.
        noise_labels: A dose of rendered clips: labels that mean nothing.
        misaligned: A dose of rendered clips: share of misaligned references.
        clips: A dose of rendered clips: clips a movie.
    """

    table: str
    name: str
    method: Method = "labels"
    against: str | None = None
    of: str | None = None
    groups: bool | dict[str, str] = True
    features: str = "idt+lsda+places"
    negatives: Literal["trained", "retrieved"] = "trained"
    auc: float = 0.7
    auc_lower: bool = False
    minimum: int = 30
    cross_fit: int = 0
    labels_of: str | None = None
    noise_scores: int = 0
    arch: Literal["1layer", "2layer-unfact", "2layer-fact"] = "1layer"
    dropout: Literal["none", "lang", "vis", "concat", "lstm"] = "lstm"
    ratio: float = 0.5
    beam: int = 1
    kind: Literal["text", "sense"] = "text"
    pairs: Literal["chain", "full"] = "chain"
    hidden: int | None = None
    embedding: int | None = None
    opt: Literal["adam", "paper"] | None = None
    rate: float | None = None
    step: int | None = None
    decay: float | None = None
    batch: int | None = None
    iterations: int | None = None
    every: int | None = None
    patience: int | None = None
    min_count: int | None = None
    noise_labels: int | None = None
    misaligned: float | None = None
    clips: int | None = None

    @property
    def is_bound(self) -> bool:
        """Whether it bounds what systems reach, and is none."""
        return self.method in _BOUNDS

    @property
    def needs_rendered(self) -> bool:
        """Whether only rendered clips can have it, since it needs their truth or changes them."""
        return bool(self.dose) or self.method in ("oracle", "human")

    @property
    def dose(self) -> dict[str, Any]:
        """What of the rendered clips this row changes."""
        own = {k: getattr(self, k) for k in ("noise_labels", "misaligned", "clips")}
        return {name: value for name, value in own.items() if value is not None}


class Study(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What all rows share.

    Attributes:
        data: ``rendered1-small``, ``rendered1-full``, ``rendered1-tiny``, or ``files``: those of
            the table ``[data]``.
        seeds: Random seeds.
        metrics: What is measured; METEOR first.
        groups: The features of each group of labels.
        title: What the tables say of the data.

    A plan of files may also have ``rows_of``, the name of a shipped plan whose rows it takes.
    """

    data: str
    seeds: tuple[int, ...] = (0, 1, 2)
    metrics: tuple[str, ...] = ("meteor", "cider")
    groups: dict[str, str] = msgspec.field(
        default_factory=lambda: {"verb": "idt", "object": "lsda", "place": "places"}
    )
    title: str = ""


class SplitFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of one set: captions, tuples, and features by name."""

    captions: str
    features: dict[str, str]
    tuples: str | None = None


class DataFiles(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The files of a study.

    Attributes:
        train: The training set.
        val: The validation set.
        test: The test set.
        places: A list of scene classes.
        objects: A list of an object detector's classes.
        someone: A list of names that become *Someone* in all captions.
        missing: Whether items that have captions or features, but not both, are an error.
    """

    train: SplitFiles
    val: SplitFiles
    test: SplitFiles
    places: str | None = None
    objects: str | None = None
    someone: str | None = None
    missing: MissingItems = "error"


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A study.

    Attributes:
        study: What all rows share.
        network: Settings of all networks; see `reelscore.captioners.NetworkRecipe`.
        row: The rows.
        data: The files, where the data is not rendered.
        folder: Where relative paths of files begin: the folder of the plan's file. No key of it.
        left_out: Names of the rows of ``rows_of`` that only rendered clips can have. Likewise.
    """

    study: Study
    network: dict[str, Any] = msgspec.field(default_factory=dict)
    row: tuple[Row, ...] = ()
    data: DataFiles | None = None
    folder: str = ""
    left_out: tuple[str, ...] = ()

    def recipe(self, row: Row) -> NetworkRecipe:
        """Return the recipe of a row's network."""
        own = {name: getattr(row, name) for name in _NETWORK if getattr(row, name) is not None}
        settings = {**self.network, **own}
        opt = settings.pop("opt", "adam")
        return NetworkRecipe.of(opt, arch=row.arch, drop=row.dropout, ratio=row.ratio, **settings)

    def seeds(self, row: Row) -> tuple[int, ...]:
        """Return the seeds of a row: one where nothing depends on it."""
        return self.study.seeds if row.method in SEEDED else self.study.seeds[:1]

    def named(self, row: Row, name: str) -> Row:
        """Find another row by name: in the row's own table first."""
        own = [each for each in self.row if each.name == name]
        return next((each for each in own if each.table == row.table), own[0])

    def only(self, tables: Sequence[str]) -> Plan:
        """Keep some tables, and the rows that theirs refer to.

        Raises:
            UnknownNameError: If there is no such table.
        """
        there = list(dict.fromkeys(row.table for row in self.row))
        for table in tables:
            if table not in there:
                raise UnknownNameError.of("table", table, there)
        wanted = [row for row in self.row if row.table in tables]
        for row in wanted:  # it grows while we go through it
            names = [row.against, row.of, row.labels_of]
            needed = [self.named(row, name) for name in names if name is not None]
            wanted += [own for own in needed if own not in wanted]
        return msgspec.structs.replace(self, row=tuple(r for r in self.row if r in wanted))


def shipped_plans() -> list[str]:
    """Name the plans that come with the package.

    >>> shipped_plans()
    ['rendered1-full', 'rendered1-small', 'schedules']
    """
    return sorted(
        entry.name.removesuffix(".toml")
        for entry in (files(__package__) / "shipped").iterdir()
        if entry.name.endswith(".toml")
    )


def read_plan(name: str | os.PathLike[str]) -> Plan:
    """Read a plan: a file, or one of those that are shipped.

    Args:
        name: Path or name.

    Raises:
        DataError: If it is no plan, or does not fit together.
        UnknownNameError: If a key, a row or a plan has no such name.
    """
    path = Path(name)
    if path.is_file():
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise DataError(f"{path}: is no TOML file ({error}).") from error
        plan = parse_plan(text, str(name))
        folder = str(path.parent.resolve()) if plan.data is not None else ""
        return msgspec.structs.replace(plan, folder=folder)
    if path.suffix == ".toml":
        raise DataError(f"{path}: there is no such file.")
    return _shipped(str(name))


def _shipped(name: str) -> Plan:
    if name not in shipped_plans():
        raise UnknownNameError.of("plan", name, shipped_plans())
    text = (files(__package__) / "shipped" / f"{name}.toml").read_text(encoding="utf-8")
    return parse_plan(text, name)


def parse_plan(text: str, name: str = "plan") -> Plan:
    r"""Read a plan from its text."""
    try:
        content: dict[str, Any] = msgspec.toml.decode(text)
    except msgspec.DecodeError as error:
        raise DataError(f"{name}: is no TOML file ({error}).") from error
    _check_names(content, ("study", "network", "row", "data"), "the file", name)
    _check_kinds(content, name)
    _check_names(content["study"], [*_fields(Study), "rows_of"], "[study]", name)
    data = content.get("data", {})
    _check_names(data, _fields(DataFiles), "[data]", name)
    for key in ("train", "val", "test"):
        if isinstance(data.get(key), dict):
            _check_names(data[key], _fields(SplitFiles), f"[data.{key}]", name)
    for row in content.get("row", ()):
        _check_names(row, _fields(Row), "[[row]]", name)
    _check_names(content.get("network", {}), _NETWORK, "[network]", name)
    if "rows_of" in content["study"]:
        content = _with_rows_of(content, content["study"].pop("rows_of"), name)
    try:
        # Settings of networks are keys of rows too, and of the same types.
        msgspec.convert({"table": "", "name": "", **content.get("network", {})}, resolved(Row))
    except msgspec.ValidationError as error:
        raise DataError(f"{name}: [network]: {error}.") from error
    try:
        plan = msgspec.convert(content, resolved(Plan))
    except msgspec.ValidationError as error:
        raise DataError(f"{name}: {error}.") from error
    _check_rows(plan, name)
    return plan


def _with_rows_of(content: dict[str, Any], plan: Any, name: str) -> dict[str, Any]:
    """Return a plan of own files the rows, networks and groups of a shipped one, before its own.

    Rows that only rendered clips can have, since they need their truth, are left out.
    """
    if not isinstance(plan, str):
        raise DataError(f"{name}: rows_of = {plan!r}; expected the name of a shipped plan.")
    if content["study"].get("data") != "files":
        raise DataError(f'{name}: rows_of belongs to data = "files": name the shipped plan itself.')
    shipped = _shipped(plan)
    rows = [
        {key: value for key, value in msgspec.to_builtins(row).items() if value is not None}
        for row in shipped.row
        if not row.needs_rendered
    ]
    return {
        **content,
        "left_out": [row.name for row in shipped.row if row.needs_rendered],
        "study": {"groups": shipped.study.groups, **content["study"]},
        "network": {**shipped.network, **content.get("network", {})},
        "row": [*rows, *content.get("row", [])],
    }


def _fields(kind: type) -> list[str]:
    return [field.name for field in msgspec.structs.fields(kind)]


def _check_names(content: Iterable[str], known: Sequence[str], where: str, name: str) -> None:
    for key in content:
        if key not in known:
            raise UnknownNameError.of(f"key of {where} in {name}", key, known)


def _check_kinds(content: Mapping[str, Any], name: str) -> None:
    """Refuse a plan whose parts are no tables, or whose rows are no list of them."""
    if "study" not in content:
        raise DataError(f"{name}: has no [study]; it says on which data, and with which seeds.")
    for key in ("study", "network", "data"):
        if not isinstance(content.get(key, {}), dict):
            raise DataError(f"{name}: {key} = {content[key]!r}; expected a table, [{key}].")
    rows = content.get("row", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise DataError(f"{name}: expected each row as a table of its own, [[row]].")


def _check_rows(plan: Plan, name: str) -> None:
    seeds = plan.study.seeds
    if not seeds or not plan.study.metrics:
        raise DataError(f"{name}: expected at least one seed and one metric.")
    if min(seeds) < 0 or len(set(seeds)) < len(seeds):
        raise DataError(f"{name}: seeds = {list(seeds)}; expected different numbers from 0.")
    if not plan.row:
        raise DataError(f"{name}: has no rows; add some as [[row]], or rows_of to [study].")
    table_columns(list(plan.study.metrics))
    check_choice("data", plan.study.data, [*RENDERED, "files"])
    if (plan.study.data == "files") != (plan.data is not None):
        raise DataError(f'{name}: [data] belongs to data = "files", and to nothing else.')
    names = [row.name for row in plan.row]
    seen: set[tuple[str, str]] = set()
    for row in plan.row:
        if (row.table, row.name) in seen:
            raise DataError(f"{name}: table {row.table} has two rows {row.name!r}; rename one.")
        seen.add((row.table, row.name))
        for key in ("against", "of", "labels_of"):
            other = getattr(row, key)
            if other is not None and other not in names:
                raise UnknownNameError.of(f"row in {key} of {row.name!r}", other, names)
        _check_others(plan, row, name)
        if row.needs_rendered and plan.study.data == "files":
            what = "a dose" if row.dose else f'method = "{row.method}"'
            raise DataError(f"{name}: {row.name!r} has {what}, which only rendered clips have.")
        if row.beam < 1:
            raise DataError(f"{name}: {row.name!r} has beam = {row.beam}; expected 1 or more.")
        for group in row.groups if isinstance(row.groups, dict) else plan.study.groups:
            group_name(group)
        with about_system(f"{name}: {row.name!r}"):
            plan.recipe(row)


def _check_others(plan: Plan, row: Row, name: str) -> None:
    """Check the rows whose networks or labels a row takes."""
    if row.method == "ensemble":
        if row.of is None:
            raise DataError(f"{name}: the ensemble {row.name!r} does not say of which row: add of.")
        if plan.named(row, row.of).method not in ("labels", "oracle"):
            raise DataError(
                f"{name}: the ensemble {row.name!r} is of {row.of!r}, which trains no network; "
                'name a row whose method is "labels" or "oracle".'
            )
    elif row.of is not None:
        raise DataError(f"{name}: {row.name!r} has of, which only ensembles have.")
    seen, other = [row], row
    while other.labels_of is not None:
        other = plan.named(other, other.labels_of)
        if other in seen:
            raise DataError(f"{name}: {row.name!r} has the labels of itself; name another row.")
        if other.method not in ("labels", "translation"):
            raise DataError(
                f"{name}: {row.name!r} has the labels of {other.name!r}, which has none."
            )
        seen.append(other)
