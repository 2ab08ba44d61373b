"""Visual labels: tuples, groups, classifiers, the AUC filter, and folders."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from reelscore.errors import DataError, UnknownNameError
from reelscore.report.tuples import Roles, Tuples
from reelscore_studies.baselines.clip_features import Features, read_features
from reelscore_studies.baselines.labels import classifiers, label_set
from reelscore_studies.baselines.labels.classifiers import Trainer, area, area_or_reason
from reelscore_studies.baselines.labels.label_set import Labels, choose_auc
from reelscore_studies.baselines.labels.svm import fit_together
from reelscore_studies.baselines.labels.visual_labels import VisualLabel, find_labels, label_matrix
from reelscore_studies.tuple_files import read_tuples

VISUAL = ["walk", "run", "jump", "sit", "wave", "nod"]
NOT_VISUAL = ["think", "know", "decide", "wonder", "try", "hope"]
PLACES = ["street", "kitchen", "park"]


def made_split(count, seed, prefix):
    """Items whose verb is in one feature and whose place is in another; thoughts are in neither."""
    draw = np.random.default_rng(seed)
    by_item, captions, motion, scene = {}, {}, {}, {}
    for number in range(count):
        item = f"{prefix}{number}"
        verb, place = draw.integers(len(VISUAL)), draw.integers(len(PLACES))
        thought = NOT_VISUAL[draw.integers(len(NOT_VISUAL))]
        clauses = [Roles("someone", VISUAL[verb], None, PLACES[place])]
        if draw.random() < 0.5:
            clauses.append(Roles("someone", thought))
        if draw.random() < 0.3:  # no label of the group place
            clauses[0] = clauses[0]._replace(location=None)
        by_item[item] = clauses
        captions[item] = [f"Someone {VISUAL[verb]}s in the {PLACES[place]}."]
        motion[item] = np.eye(len(VISUAL))[verb] + draw.normal(0, 0.3, len(VISUAL))
        scene[item] = np.eye(len(PLACES))[place] + draw.normal(0, 0.3, len(PLACES))
    features = {"idt": Features.of(motion), "places": Features.of(scene)}
    return captions, Tuples(by_item), features


TRAIN = made_split(400, 1, "t")
VALIDATION = made_split(300, 2, "v")
GROUPS = {"verbs": "idt", "place": "places"}


@pytest.fixture(scope="module")
def trained():
    return Labels.train(*TRAIN, validation=VALIDATION, groups=GROUPS, minimum=20, threads=1)


def test_captions_from_labels_in_python(trained, tmp_path):
    pytest.importorskip("torch", reason="networks need torch ('make learned')")
    from reelscore_studies.baselines.networks.captioner import Captioner
    from reelscore_studies.baselines.networks.training_run import NetworkRecipe, TrainingSettings

    captions = {item: text for item, [text] in TRAIN[0].items()}  # texts, and no lists of them
    small = {"arch": "2layer-fact", "dropout": "vis", "hidden": 8, "iterations": 2, "every": 1}
    model = Captioner.train(trained, captions, VALIDATION[0], folder=tmp_path / "model", **small)
    assert "|arch:2layer-fact|drop:vis|" in model.signature()
    assert model.signature().rpartition("|v:")[0].endswith("|beam:1")
    assert model.records[0]["labels"] == trained.signature()
    assert {"someone", "walks", "kitchen"} <= set(model.vocabulary.words)
    made = Captioner.ensemble([tmp_path / "model"] * 2).generate(trained.scores(VALIDATION[2]))
    assert set(made) == set(VALIDATION[0])
    # as many scores, but not of the same labels
    walk, *rest = trained.labels
    renamed = replace(trained, labels=(replace(walk, name="fly"), *rest))
    renamed.write(tmp_path / "renamed", test=renamed.scores(VALIDATION[2]))
    trained.write(tmp_path / "same", test=trained.scores(VALIDATION[2]))
    other = read_features(tmp_path / "renamed/test.safetensors")
    same = read_features(tmp_path / "same/test.safetensors")
    assert walk.kept
    assert (other.matrix == same.matrix).all()
    with pytest.raises(DataError, match=r"scores of other labels \(\w{8}\) than those the model"):
        model.generate(other)
    mixed = (trained.by_split["train"], renamed.scores(VALIDATION[2]))
    with pytest.raises(DataError, match="scores of other labels"):
        Captioner.train(mixed, captions, VALIDATION[0], tmp_path / "mixed", **small)
    assert not (tmp_path / "mixed").exists()
    assert set(model.generate(same)) == set(VALIDATION[0])
    unknown = Features(same.items, same.matrix)  # the user's own: nothing is known of them
    assert model.generate(unknown) == model.generate(same)
    assert Captioner.load(tmp_path / "model").generate(same) == model.generate(same)
    arguments = (trained, captions, VALIDATION[0], tmp_path / "other")
    with pytest.raises(UnknownNameError, match=r"'dropuot'\. Did you mean 'dro"):
        Captioner.train(*arguments, dropuot="vis")
    with pytest.raises(DataError, match="Pass a recipe, or hidden, but not both"):
        Captioner.train(*arguments, recipe=NetworkRecipe(), hidden=3)
    with pytest.raises(DataError, match="Pass settings, or hidden, but not both"):
        Captioner.train(*arguments, TrainingSettings(), hidden=3)
    assert not (tmp_path / "other").exists()


def test_what_cannot_be_seen_is_dropped(trained):
    by_name = {label.name: label for label in trained.labels}
    assert set(by_name) == {*VISUAL, *NOT_VISUAL, *PLACES}
    assert {label.name for label in trained.kept} == {*VISUAL, *PLACES}
    assert by_name["walk"].auc > 0.95
    assert by_name["walk"].auc_lower > 0.9
    assert by_name["walk"].validation_positives > 20
    assert "is below 0.7" in by_name["think"].reason


def test_labels_are_counted_in_training_items_alone(trained):
    """A file of tuples may hold all splits."""
    everything = Tuples({**TRAIN[1].by_item, **VALIDATION[1].by_item})
    again = Labels.train(
        TRAIN[0], everything, TRAIN[2], validation=VALIDATION, groups=GROUPS, minimum=20, threads=1
    )
    assert again.labels == trained.labels
    with pytest.raises(DataError, match="occurs in at least 140 items"):  # of 400; 1.75 times that
        Labels.train(
            TRAIN[0], everything, TRAIN[2], validation=VALIDATION, groups=GROUPS, minimum=140
        )


def test_scores_are_standardised_on_training_items(trained):
    scores = trained.by_split["train"].matrix
    assert scores.dtype == np.float32
    assert np.allclose(scores.mean(axis=0), 0, atol=1e-5)
    assert np.allclose(scores.std(axis=0), 1, atol=1e-5)
    again = trained.scores(VALIDATION[2])
    assert (again.matrix == trained.by_split["val"].matrix).all()
    verbs = [label.name for label in trained.kept].index("walk")
    walking = [clauses[0].verb == "walk" for clauses in VALIDATION[1].by_item.values()]
    assert again.matrix[walking, verbs].mean() > 1


@pytest.mark.parametrize("negatives", ["trained", "retrieved"])
def test_negatives_have_a_label_of_the_group(monkeypatch, negatives):
    seen = []

    def fit(rows, positive, c, seed):
        seen.append(rows.shape[0])
        return np.zeros(rows.shape[1]), 0.0

    monkeypatch.setattr(classifiers, "fit", fit)
    labels = find_labels(TRAIN[1], ["place"], minimum=20)
    matrix = label_matrix(list(TRAIN[0]), TRAIN[0], TRAIN[1], labels)
    settings = classifiers.LabelParameters(negatives=negatives)
    trainer = Trainer(matrix, "place", TRAIN[2]["places"].matrix, settings, 1)
    placed = [any(own.location for own in clauses) for clauses in TRAIN[1].by_item.values()]
    assert trainer.candidates.tolist() == (placed if negatives == "trained" else [True] * 400)
    trainer.classifiers("places", 0.02, classifiers.Scaler.fitted(trainer.rows))
    assert seen == [sum(trainer.candidates)] * 3


def test_cross_fitting_scores_items_by_classifiers_that_did_not_see_them():
    """A meaningless label is learnt by heart from many features, but not out of fold."""
    draw = np.random.default_rng(3)
    words = ["up", "down"]

    def split(prefix, count):
        items = [f"{prefix}{k}" for k in range(count)]
        numbers = draw.normal(size=(count, 90)).astype(np.float32)
        named = {item: [Roles("x", words[draw.integers(2)])] for item in items}
        captions = {item: ["Someone moves."] for item in items}
        return captions, Tuples(named), {"f": Features(tuple(items), numbers)}

    train, validation = split("t", 100), split("v", 60)
    up = np.array([clauses[0].verb == "up" for clauses in train[1].by_item.values()])

    def training_auc(parts):
        labels = Labels.train(
            *train,
            validation=validation,
            groups={"verb": "f"},
            minimum=1,
            auc=0,
            cross_fit=parts,
            threads=1,
        )
        place = [label.name for label in labels.kept].index("up")
        return area(labels.by_split["train"].matrix[:, place], up).value, labels

    assert training_auc(0)[0] > 0.9
    auc, labels = training_auc(5)
    assert auc < 0.65
    assert "|cross_fit:5|" in labels.signature()
    again = training_auc(5)[1]
    assert (again.by_split["train"].matrix == labels.by_split["train"].matrix).all()


def test_a_folder_keeps_everything(trained, tmp_path):
    folder = tmp_path / "labels"
    test = trained.scores(TRAIN[2])
    trained.write(folder, test=test, record={"seed": 1})
    again = Labels.read(folder)
    assert again.labels == trained.labels
    assert again.parameters == trained.parameters
    assert again.signature() == trained.signature()
    assert set(again.by_split) == {"train", "val", "test"}
    assert (again.scores(VALIDATION[2]).matrix == trained.by_split["val"].matrix).all()
    # a file of scores is a file of features
    val = read_features(folder / "val.safetensors", trained.by_split["val"].items)
    assert (val.matrix == trained.by_split["val"].matrix).all()
    told = json.loads((folder / "labels.json").read_text())
    assert {"name", "group", "feature", "positives", "auc", "kept", "reason"} <= set(
        told["labels"][0]
    )
    with pytest.raises(DataError, match="exists already"):
        trained.write(folder)
    (folder / "labels.json").write_text("{}")
    with pytest.raises(DataError, match="is no folder of labels"):
        Labels.read(folder)


def test_a_higher_auc_keeps_the_scores_of_what_stays(trained):
    limit = sorted(label.auc for label in trained.kept)[2]
    fewer = trained.filtered(limit)
    assert len(fewer.kept) == len(trained.kept) - 2
    names = [label.name for label in trained.kept]
    stay = [names.index(label.name) for label in fewer.kept]
    assert (fewer.by_split["val"].matrix == trained.by_split["val"].matrix[:, stay]).all()
    assert (fewer.scores(VALIDATION[2]).matrix == fewer.by_split["val"].matrix).all()
    assert fewer.parameters.auc == limit
    assert sum("is below" in label.reason for label in fewer.labels) == 2 + len(NOT_VISUAL)


def test_the_auc_is_chosen_by_what_a_captioner_reaches(trained):
    areas = sorted(label.auc for label in trained.kept)
    grid = [0.7, areas[1], areas[2], 1.0]
    scores = {len(trained.kept): 0.2, len(trained.kept) - 1: 0.3, len(trained.kept) - 2: 0.3}
    chosen, reached = choose_auc(trained, grid, lambda labels: scores[len(labels.kept)])
    assert chosen.parameters.auc == areas[1]  # the lower of two that are equally good
    assert reached == {0.7: 0.2, areas[1]: 0.3, areas[2]: 0.3}  # at 1.0 a group has none left
    with pytest.raises(DataError, match="Try lower values"):
        choose_auc(trained, [1.0], lambda labels: 0.0)


def test_a_group_that_cannot_be_seen_is_an_error():
    with pytest.raises(
        DataError, match=r"No label of group 'place' reached AUC 0\.99.*\(best: '\w+', 0\.\d\d\)"
    ):
        Labels.train(
            *TRAIN, validation=VALIDATION, groups={"place": "idt"}, minimum=20, auc=0.99, threads=1
        )
    with pytest.raises(UnknownNameError, match="Unknown features 'lsda'"):
        Labels.train(*TRAIN, validation=VALIDATION, groups={"verb": "lsda"})
    with pytest.raises(DataError, match="No label of group 'verb' occurs in at least 900 items"):
        Labels.train(*TRAIN, validation=VALIDATION, groups={"verb": "idt"}, minimum=900)
    with pytest.raises(UnknownNameError, match="Unknown group of labels 'adverb'"):
        Labels.train(*TRAIN, validation=VALIDATION, groups={"adverbs": "idt"})


def test_few_positives_say_nothing():
    scores = np.arange(10.0)
    four = np.arange(10) > 5
    assert area_or_reason(scores, four) == ("4 positives on validation; at least 5 are needed")
    assert area_or_reason(scores, scores >= 0) == (
        "every validation item with a label of the group has it"
    )


def test_the_lower_limit_drops_labels_that_pass_by_chance():
    """Of meaningless labels with eight positives some pass 0.7; the limit leaves few."""
    draw = np.random.default_rng(0)
    positive = np.arange(400) < 8
    areas = [area(draw.normal(size=400), positive) for _ in range(300)]
    passed = [own for own in areas if own.value >= 0.7]
    assert 3 <= len(passed) <= 20
    assert 0.08 < np.std([own.value for own in areas]) < 0.12
    settings = classifiers.LabelParameters(auc_lower=True)
    label = VisualLabel("verb", "x", 8)
    weak = next(own for own in areas if own.value >= 0.7)
    judged = classifiers._judged(label, "f", 8, positive, weak._replace(lower=0.49), settings)
    assert not judged.kept
    assert "lower limit" in judged.reason


def test_auc_and_its_variance_are_those_of_all_pairs():
    draw = np.random.default_rng(5)
    scores = np.round(draw.normal(size=60), 1)  # with ties
    positive = draw.random(60) < 0.4
    pairs = [[(h > m) + 0.5 * (h == m) for m in scores[~positive]] for h in scores[positive]]
    kernel = np.array(pairs)
    value, lower = area(scores, positive)
    assert value == pytest.approx(kernel.mean())
    rows, columns = kernel.mean(axis=1), kernel.mean(axis=0)
    variance = rows.var(ddof=1) / len(rows) + columns.var(ddof=1) / len(columns)
    assert lower == pytest.approx(kernel.mean() - 1.96 * variance**0.5, abs=1e-4)


# Which labels there are


def test_groups_of_labels():
    clauses = [
        Roles("man", "walk", "dog", "park"),
        Roles("dog", "walk", "stick", "park"),
        Roles("woman", "park", "car", "garage"),
        Roles("man", "hold", "coffee table", "bed"),
        Roles("man", "hold", "bed", "bed"),
    ]
    tuples = Tuples({str(k): [own] for k, own in enumerate(clauses)})

    def names(**arguments):
        return {(own.group, own.name) for own in find_labels(tuples, minimum=1, **arguments)}

    # by the role that is filled most often; people are dropped, a verb and a noun are two labels
    assert names() == {
        *{("verb", name) for name in ("walk", "park", "hold")},
        *{("object", name) for name in ("dog", "stick", "car", "coffee table")},
        *{("place", name) for name in ("park", "garage", "bed")},
    }
    lists = {"places": ["Park", "bed"], "objects": ["bed", "table", "dog"]}
    assert names(groups=["object", "place"], **lists) == {
        *{("place", name) for name in ("park", "bed")},
        *{("object", name) for name in ("bed", "coffee table", "dog")},
    }
    rest = names(groups=["verb", "place", "other"], **lists) - names(groups=["verb"])
    assert ("other", "man") in rest
    assert ("other", "bed") not in rest
    assert len(names(groups=["all"])) == 11  # park once, whatever its role


def test_a_label_is_found_in_the_role_of_its_group():
    tuples = Tuples({"a": [Roles("man", "park", "car")], "b": [Roles("man", "sit", None, "park")]})
    labels = [
        VisualLabel("verb", "park", 1),
        VisualLabel("place", "park", 1),
        VisualLabel("all", "park", 2),
    ]
    matrix = label_matrix(["a", "b"], {}, tuples, labels)
    assert matrix.values.tolist() == [[True, False, True], [False, True, True]]
    assert matrix.any_role.all()


def test_failed_captions_have_the_labels_of_their_words():
    tuples = Tuples({"a": []}, frozenset({"a"}))
    labels = [VisualLabel("object", name, 1) for name in ("car", "red car", "scar")]
    matrix = label_matrix(["a"], {"a": ["The RED, red car!"]}, tuples, labels)
    assert matrix.values.tolist() == [[True, True, False]]
    with pytest.raises(DataError, match=r"1 items have no tuples \(first: 'b'\)"):
        label_matrix(["a", "b"], {}, tuples, labels)


# Files of tuples


def test_tuples_are_read_as_they_are_written(tmp_path):
    tuples = Tuples({"a": [Roles("man", "look up"), Roles("dog")], "b": []}, frozenset({"b"}))
    path = tmp_path / "tuples.jsonl"
    path.write_text("\n".join(tuples.lines()))
    assert read_tuples(path) == tuples


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "tuples.jsonl:1: is no tuple"),
        ('{"subject": "man"}', "tuples.jsonl:1: is no tuple: .*`item`"),
        ('{"item": "a", "verb": 3}', r"Expected `str \| null`, got `int`"),
        ('{"item": "a", "verbs": "run"}', "unknown field `verbs`"),
        ('{"item": "a", "kind": "word"}', "Invalid enum value 'word'"),
        ("\n\n", "holds no tuples of kind text"),
        ('{"item": "a", "verb": "x", "kind": "sense"}', "kind text; it has those of kind sense"),
        ('{"item": "a", "verb": "\xff"}'.encode("latin-1"), "tuples.jsonl:1: is no tuple"),
    ],
)
def test_bad_tuples(tmp_path, content, message):
    path = tmp_path / "tuples.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read_tuples(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_tuples(tmp_path / "none.jsonl")


def test_a_gpu_solves_the_same_problem(trained, monkeypatch):
    """Newton's steps for all labels together, here on the CPU, reach what scikit-learn reaches."""
    pytest.importorskip("torch", reason="the solver for GPUs needs torch ('make learned')")
    used = []

    def on_cpu(rows, positives, c, device):
        used.append(device)
        return fit_together(rows, positives, c, "cpu")

    monkeypatch.setattr(classifiers, "fit_together", on_cpu)
    monkeypatch.setattr(label_set, "check_device", lambda device: None)
    own = {"validation": VALIDATION, "groups": GROUPS, "minimum": 20}
    there = Labels.train(*TRAIN, device="cuda", **own)
    assert set(used) == {"cuda"}
    assert [own.name for own in there.kept] == [own.name for own in trained.kept]
    assert [own.auc for own in there.labels] == pytest.approx([own.auc for own in trained.labels])
    for split, scores in trained.by_split.items():
        assert np.abs(there.by_split[split].matrix - scores.matrix).max() < 1e-3
    monkeypatch.undo()
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DataError, match="torch finds no GPU"):
        Labels.train(*TRAIN, device="cuda", **own)
