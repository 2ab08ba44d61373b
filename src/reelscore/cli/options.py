"""Options, each kind spelled in one way, and the headings under which help lists them.

An option is called the same in every command, so one table says where help lists it. A command
with options of its own says where these are listed: ``headings={"Training": "rate batch"}``.

An option that says how one thing is done is written as metrics are: ``NAME|key:value|key:value``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import click
import msgspec

from reelscore._records import resolved
from reelscore.errors import DataError, ReelscoreError, check_choice

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from reelscore.data.tables.table import ScoreTable
    from reelscore.engines.engine import Engine
    from reelscore.significance.comparison import Comparison

Decorator = Callable[[Callable[..., None]], Callable[..., None]]

# The headings of help, and the options that are listed there in every command.
HEADINGS = {
    "Files": "format input-format split",
    "Items": "missing empty match-ids leave-one-out",
    "Statistics": "seed resamples test",
    "Printed table": "scale digits sort columns",
    "Files to write": "output table",
    "Report and figures": "title videos plots",
    "Large sets and clusters": "threads engine parts bad-rows",
}
_FEW = 16  # options that need no headings
_NAMES = 26  # columns of the options' names


class Command(click.Command):
    """A command whose help lists many options under headings."""

    def __init__(
        self, *args: Any, headings: Mapping[str, str] | None = None, **fields: Any
    ) -> None:
        super().__init__(*args, **fields)
        self.headings = {**(headings or {}), **HEADINGS}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the options; those without a heading, which most people need, come first."""
        options = [each for each in self.get_params(ctx) if isinstance(each, click.Option)]
        listed_under = {
            f"--{name}": heading
            for heading, names in self.headings.items()
            for name in names.split()
            if len(options) > _FEW
        }
        lines: dict[str, list[tuple[str, str]]] = {h: [] for h in ("Options", *self.headings)}
        for option in options:
            if line := option.get_help_record(ctx):
                own = option.rows() if isinstance(option, SettingsOption) else []
                lines[listed_under.get(option.opts[0], "Options")] += [line, *own]
        for heading, listed in lines.items():
            if listed:
                with formatter.section(heading):
                    formatter.write_dl(listed, col_max=_NAMES)


class SettingsOption(click.Option):
    """An option that says how one thing is done, as a record: NAME|key:value|key:value.

    The name may be left out. A value that holds | itself is in brackets, or has %7C for it, as in
    signatures. Help lists the keys with what the record's docstring says of them.

    Args:
        names: The option's.
        start: Makes the record of a name, or of an empty text where there is no name.
        known: The names there are, which may begin addresses, ``ray://HOST``; any if empty.
        without: Fields of the record that are no keys.
        listed: Whether help lists the keys.
        fields: As of `click.Option`.
    """

    def __init__(
        self,
        names: Sequence[str],
        start: Callable[[str], Any],
        known: Sequence[str] = (),
        without: Sequence[str] = (),
        listed: bool = True,
        **fields: Any,
    ) -> None:
        super().__init__(names, **{"metavar": "NAME|KEY:VALUE", "default": start(""), **fields})
        self.start, self.known, self.without, self.listed = start, known, without, listed
        # what must stand before the settings, as help calls it
        self.needs = str(self.metavar).partition("|")[0] if self.default is None else ""

    @functools.cached_property
    def keys(self) -> dict[str, msgspec.structs.FieldInfo]:
        """The fields of the record by the keys that stand for them."""
        fields = _fields(self.start(""))
        return {field.encode_name: field for field in fields if field.name not in self.without}

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """Read the record from a text."""
        if not isinstance(value, str):
            return value
        from reelscore.metrics.registry import key_values  # most commands are called without one

        ctx.meta[self.opts[0]] = value  # remedies in messages repeat it
        head, *parts = re.split(r"\|(?![^(]*\))", value)
        if ":" in head and "://" not in head and not os.path.exists(head):  # noqa: PTH110 (pathlib raises an error)
            head, parts = "", [head, *parts]
        if head and self.known:
            check_choice(str(self.name), head.partition("://")[0], self.known)
        given = key_values(parts, f"{self.opts[0]} {value!r}")
        for key in given:
            check_choice(f"setting of {self.opts[0]}", key, self.keys)
        made = self.start(head)
        values = {key: _setting(self.keys[key], text) for key, text in given.items()}
        try:
            values = {**msgspec.to_builtins(made), **values}
            return msgspec.convert(values, resolved(type(made)), strict=False)
        except msgspec.ValidationError as error:
            raise self._refusal(error, given) from None

    def _refusal(self, error: msgspec.ValidationError, given: Mapping[str, str]) -> ReelscoreError:
        """Return an error: what is wrong with a value, and what was expected."""
        if isinstance(error.__cause__, ReelscoreError):
            return error.__cause__
        found = re.search(r"^(?:.*?`(\w+).*?`( [<>]=? \S+)?)?.* - at `\$\.(\w+)", str(error))
        assert found is not None, error
        kind, bound, key = found.groups(default="")
        choices = get_args(self.keys[key].type)
        expected = _KINDS.get(kind) or ", ".join(map(str, choices))
        if get_origin(self.keys[key].type) is tuple:
            expected = f"a list, each {expected}"
        return DataError(f"{self.opts[0]}: {key} is {given[key]!r}; expected {expected}{bound}.")

    def rows(self) -> list[tuple[str, str]]:
        """Return the lines of help about the keys."""
        if not self.listed:
            return []
        own = self.start("")
        kinds = reversed(type(own).__mro__)
        about = "\n".join(inspect.cleandoc(kind.__doc__ or "") for kind in kinds)
        entries = re.findall(r"^    (\w+): (.+(?:\n {8}.+)*)", about, re.MULTILINE)
        texts = {name: " ".join(text.split()).replace("`", "") for name, text in entries}
        return [
            (f"  {key}:", texts[field.name] + _default(getattr(own, field.name)))
            for key, field in self.keys.items()
        ]

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer the names, and the keys."""
        from click.shell_completion import CompletionItem

        begun, bar, last = incomplete.rpartition("|")
        offered = [*([] if bar else self.known), *(f"{key}:" for key in self.keys)]
        return [CompletionItem(begun + bar + each) for each in offered if each.startswith(last)]


def _fields(record: Any) -> Sequence[msgspec.structs.FieldInfo]:
    """Return the fields of a record, a Struct or a dataclass."""
    if isinstance(record, msgspec.Struct):
        return msgspec.structs.fields(record)
    names = [field.name for field in dataclasses.fields(record)]
    hints = get_type_hints(type(record), include_extras=True)
    return [msgspec.structs.FieldInfo(name, name, hints[name]) for name in names]


def unnamed(record: Callable[[], Any]) -> Callable[[str], Any]:
    """Return what makes the record of an option whose settings have no name before them."""

    def start(name: str) -> Any:
        if name:
            raise DataError(f"{name!r} is not of the form key:value.")
        return record()

    return start


_KINDS = {"int": "a whole number", "float": "a number", "bool": "yes or no"}


def _setting(field: msgspec.structs.FieldInfo, text: str) -> object:
    """Read a value as far as its kind needs it; `msgspec.convert` does the rest."""
    from reelscore.metrics.base import unquoted

    if "|" in text:
        text = re.sub("[()]", "", text)
    if get_origin(field.type) is tuple:
        return [unquoted(part.strip()) for part in text.split(",") if part.strip()]
    return {"yes": True, "no": False}.get(text, text) if field.type is bool else unquoted(text)


def _default(value: object) -> str:
    """Spell a default as it is typed; nothing where there is none."""
    from reelscore.metrics.base import spelled

    values = value if isinstance(value, tuple) else (value,)
    text = ",".join(map(spelled, values))
    return "" if value in (None, "", ()) else f"  [default: {text}]"


def gathered(
    name: str, record: Callable[..., object], options: Mapping[str, Decorator]
) -> Decorator:
    """Return a decorator that adds options and passes them to the command as one record."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def gather(**arguments: object) -> None:
            values = {field: arguments.pop(field) for field in options}
            command(**arguments, **{name: record(**values)})

        with_options: Callable[..., None] = gather
        for add in reversed(list(options.values())):
            with_options = add(with_options)
        return with_options

    return decorate


def number_option(
    *names: str,
    default: float | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    **fields: Any,
) -> Decorator:
    """Return an option that is a finite number: whole where its default is, or else its least."""
    low = least if above is None else above
    kind: click.ParamType[float]
    if isinstance(low if default is None else default, int):
        first, last = (None if bound is None else int(bound) for bound in (low, most))
        kind = click.IntRange(first, last, min_open=above is not None)
    else:
        kind = click.FloatRange(low, most, min_open=above is not None)
        fields["callback"] = _finite
    if (low, most) == (None, None):
        kind = click.INT if isinstance(default, int) else click.FLOAT
    if default is not None:
        fields["default"] = default
    return click.option(*names, type=kind, show_default=True, **fields)


def _finite(context: click.Context, option: click.Parameter, number: float | None) -> float | None:
    """Refuse nan, which no range leaves out, and infinity."""
    if number is not None and not math.isfinite(number):
        raise click.BadParameter(f"{number} is not a finite number.")
    return number


def choice_option(*names: str, choices: Sequence[str], default: str | None, help: str) -> Decorator:
    """Return an option that is one of several words."""
    kind = click.Choice(choices)
    return click.option(*names, type=kind, default=default, show_default=True, help=help)


def file_option(name: str, help: str) -> Decorator:
    """Return an option that names a file to write; ``--html`` is the argument ``html_file``."""
    argument = f"{name[2:].replace('-', '_')}_file"
    return click.option(name, argument, metavar="FILE", help=help)


def resamples_option(help: str) -> Decorator:
    """Return the option ``--resamples`` of bootstrap intervals and tests."""
    return number_option("--resamples", default=1000, least=10, help=help)


match_ids_option = click.option(
    "--match-ids",
    metavar="RULES",
    help="Match ids that are written differently: basename (without folders and endings), "
    "casefold, zeros (without leading ones), strip, prefix, number; several with commas. Or "
    "order: captions and items by their places in the files, which must have as many.",
)
json_option = file_option("--json", "Write everything as JSON; - for standard output.")
seed_option = number_option("--seed", default=12345, least=0, help="Random seed.")
metric_option = click.option(
    "--metric", "-m", default="meteor", show_default=True, metavar="NAME", help="Any metric."
)
threads_option = number_option(
    "--threads",
    least=1,
    metavar="N",
    help="Threads to use; all cores if not given. Does not change the scores.",
)


class ChosenTests(msgspec.Struct, frozen=True):
    """Which tests are made between systems, and how.

    Attributes:
        correction: Correction for the number of comparisons within one metric: holm, bonferroni,
            bh or none.
        level: Mark corrected p-values below this level.
        trials: Number of permutations of the randomization test.
    """

    name: Literal["both", "bootstrap", "randomization"] = "both"
    correction: Literal["holm", "bonferroni", "bh", "none"] = "holm"
    level: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.05
    trials: Annotated[int, msgspec.Meta(ge=10)] = 10_000

    def made(
        self, table: ScoreTable, baseline: str | None, resamples: int, seed: int
    ) -> list[Comparison]:
        """Test the differences between systems."""
        from reelscore.cli.terminal import progress_bar
        from reelscore.significance.pair_tests import compare

        with progress_bar("Testing") as progress:
            return compare(
                table,
                baseline,
                tests=["bootstrap", "randomization"] if self.name == "both" else [self.name],
                correction=self.correction,
                level=self.level,
                resamples=resamples,
                trials=self.trials,
                seed=seed,
                progress=progress,
            )


significance_option = click.option(
    "--test",
    cls=SettingsOption,
    start=lambda name: ChosenTests(cast(Any, name or "both")),
    known=["both", "bootstrap", "randomization"],
    without=["name"],
    help="Paired bootstrap, approximate randomization, or both: bootstrap, randomization, both, "
    "which is the default.",
)


class EngineChoice(msgspec.Struct, frozen=True):
    """An engine and its settings.

    Attributes:
        workers: Keep this number of workers of ray, each with its weights loaded; if not given,
            tasks on all processors.
        gpus: The GPUs of each worker of ray, such as 1 or 0.5.
        memory: How much of a machine's memory workers of ray may use, in percent.

    >>> EngineChoice().start() is None
    True
    """

    name: str = "threads"
    workers: Annotated[int, msgspec.Meta(ge=1)] | None = None
    gpus: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    memory: Annotated[int, msgspec.Meta(ge=1, le=100)] = 60

    def start(self) -> Engine | None:
        """Connect to the cluster; ``None`` for threads of this process, the default."""
        name = self.name.partition("://")[0]
        if name == "threads":
            if self != EngineChoice():
                raise DataError(
                    "workers, gpus and memory are for --engine ray; threads of this process are "
                    "chosen by --threads."
                )
            return None
        from reelscore.engines.engine import Engine

        return Engine(
            name,
            address=self.name if "://" in self.name else None,
            workers=self.workers,
            gpus_per_worker=self.gpus,
            memory=self.memory / 100,
        )


engine_option = click.option(
    "--engine",
    cls=SettingsOption,
    start=lambda name: EngineChoice(name or "threads"),
    known=["threads", "ray"],
    without=["name"],
    help="Where to compute: threads of this process, the default; ray, a Ray on this machine (or "
    "at RAY_ADDRESS); ray://HOST:10001, a cluster. Does not change the scores.",
)
