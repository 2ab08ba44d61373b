"""The definition: the two examples are read, and each mistake is named with its key."""

from __future__ import annotations

from pathlib import Path

import pytest

import support
from reelscore import DataError
from reelscore.challenges.definition.reader import parse_definition, read_definition
from reelscore.store.values import to_iso

EXAMPLES = Path(support.__file__).parent / "challenges"
LSMDC = (EXAMPLES / "lsmdc.toml").read_text()
STORIES = (EXAMPLES / "stories.toml").read_text()


def test_the_first_example():
    challenge = parse_definition(LSMDC)
    assert (challenge.id, challenge.registration) == ("lsmdc", "approve")
    assert challenge.teams.largest == 6
    assert [split.visibility for split in challenge.splits] == ["public", "blind"]
    public, blind = challenge.phases
    assert (public.final, public.after, blind.late) == ("best", "open", "mark")
    assert to_iso(blind.reveals) == "2026-10-20T09:00:00.000000Z"
    assert blind.feedback == {"blind": "reveal"}
    assert (blind.limits.per_day, blind.limits.total, blind.limits.concurrent) == (2, 5, 1)
    [board] = challenge.boards
    assert (board.split, board.primary, board.test.correction) == ("blind", "cider", "holm")
    assert [group.group for group in board.columns] == ["words", "learned", "text", "people"]
    assert challenge.humans[0].quorum == (2, 3)
    assert challenge.award.columns == ("human:helpful",)
    assert challenge.baselines[0].name == "Nearest neighbour"
    assert challenge.publish.items
    assert not challenge.publish.captions


def test_the_second_example():
    challenge = parse_definition(STORIES)
    [phase] = challenge.phases
    assert challenge.kind(phase) == "stories"
    assert phase.feedback == {"val": "full", "test": "ladder"}
    assert phase.step == {"test": 0.002}
    scales = challenge.scoring.scales("stories")
    assert {"soda_c", "soda_c_recall", "anet_meteor", "anet_cider"} <= set(scales)
    assert challenge.scoring.limits.seconds == 900


# The right text, what stands there instead, and what is said about its key.
MISTAKES = [
    ("id = \"lsmdc\"", "id = \"LSMDC 1\"", "challenge.id is 'LSMDC 1'; expected up to 60 of a-z"),
    ("registration", "registrations", "[challenge] has no key 'registrations'; did you mean"),
    ('"approve" ', '"aprove" ',
     "challenge.registration is 'aprove'; expected 'open', 'invite' or 'approve' (did you mean"),
    ("2026-09-15T12:00:00Z\nfeedback", "2026-09-15T12:00:00\nfeedback",
     "phase[0].closes has no offset"),
    ("closes = 2026-09-15", "closes = 2026-01-15",
     "phase[0].closes: phase 'public-test' closes before it opens"),
    ("reveals = 2026-10-20", "reveals = 2026-09-20",
     "phase[1].reveals: phase 'blind-test' reveals before it closes"),
    ("per_day = 5", "per_dya = 5", "phase[0].limits has no key 'per_dya'; did you mean per_day?"),
    ("per_day = 5", "per_day = 0", "phase[0].limits.per_day is 0; expected at least 1"),
    ("per_day = 5", "per_day = \"5\"",
     "phase[0].limits.per_day is a text; expected a whole number"),
    ('{ blind = "reveal" }', '{ blind = "ladder" }',
     "phase[1].feedback.blind: feedback 'ladder' of blind needs a step: step = { blind = 0.01 }"),
    ('{ blind = "reveal" }', '{ blin = "reveal" }',
     "phase[1].feedback has no key 'blin'; did you mean blind?"),
    ('missing = "error"', 'missing = "skip"', "scoring.missing is 'skip'; expected 'error'"),
    ('"rouge_l", "cider", "b', '"rogue_l", "cider", "b',
     "scoring.metrics: Unknown metric 'rogue_l'. Did you mean 'rouge_l'?"),
    ("device = \"cpu\"", "device = \"tpu\"", "scoring.device is 'tpu'; expected 'cpu' or 'cuda'"),
    ('primary = "cider"', 'primary = "cidre"',
     "board[0].primary: Unknown score 'cidre'. Did you mean 'cider'?"),
    ('primary = "cider"', 'primary = "unique"',
     "board[0].primary: primary is 'unique', which cannot be resampled"),
    ('phase = "blind-test"\nprimary', 'phase = "blnd"\nprimary',
     "board[0].phase: Unknown phase 'blnd'"),
    ('human = "helpful"', 'human = "helpfull"',
     "board[0].columns[3].human: Unknown human evaluation 'helpfull'"),
    ("quorum = [2, 3]", "quorum = [2, 5]", "human[0].quorum: quorum is of 5 raters, raters is 3"),
    ("quorum = [2, 3]", "quorum = 2",
     "human[0].quorum is a number (2); expected two numbers, such as [2, 3]"),
    ('layout = "trecvid"', 'layout = "trecvit"', "human[2].layout: Unknown layout 'trecvit'"),
    ('"human:helpful"\n', '"human:nobody"\n',
     "award.column: Unknown column of a board 'human:nobody'"),
    ('"human:helpful"\n', '"human:ranking:helpful"\n',
     "award.column: Unknown column of a board 'human:ranking:helpful'"),
    ('"human:helpful"\n', '"human:helpful:x"\n',
     "award.column: Unknown column of a board 'human:helpful:x'. Did you mean 'human:helpful'?"),
    ('splits = ["public"]', 'splits = ["pubic"]', "phase[0].splits: Unknown split 'pubic'"),
    ('id = "blind"  ', 'id = "public"  ',
     "split[1].id: there are two [[split]] with the id 'public'"),
    ("precision = 3", "precision = 99", "board[0].columns[1].precision is 99; expected 0 to 12"),
    ("captions = false", "captions = 0",
     "publish.captions is a number (0); expected true or false"),
    ('phase = "public-test"\n\n', 'phase = "final"\n\n',
     "baseline[0].phase: Unknown phase 'final'"),
    ('references = "publictest.csv"', "references = 3",
     "split[0].references is a number (3); expected a text or a list of texts"),
    ('visibility = "public"\n', "", "split[0] has no visibility; expected 'public' or 'blind'"),
    ("memory_gb = 4", "memory_gb = true", "scoring.limits.memory_gb is true; expected a number"),
    ("scale = 100", "scale = inf", "board[0].columns[0].scale is inf; expected a finite number"),
    ('column = "human:helpful"\n', 'columns = ["cider"]\n',
     "award.column: the rule column needs column"),
    ("[award]", "[awards]", "the file has no key 'awards'; did you mean award?"),
    ('id = "lsmdc"', 'text = "x"\nid = "lsmdc"', "[challenge] has no key 'text'; known: id, name"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "said"), MISTAKES, ids=lambda value: str(value)[:30])
def test_each_mistake_has_its_key(right, wrong, said):
    before, _, after = LSMDC.partition(right)
    assert after
    with pytest.raises(DataError) as caught:
        parse_definition(before + wrong + after, "lsmdc.toml")
    assert f"lsmdc.toml: {said}" in str(caught.value)


def test_all_mistakes_are_said_at_once():
    text = LSMDC.replace("per_day = 5", "per_dya = 5").replace('"cpu"', '"tpu"')
    with pytest.raises(DataError) as caught:
        parse_definition(text, "lsmdc.toml")
    assert len(str(caught.value).splitlines()) == 2


def test_what_is_not_toml():
    with pytest.raises(DataError, match=r"c\.toml:2: not TOML"):
        parse_definition("[challenge]\nid = \nname = 3", "c.toml")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("concurrent = 1", "concurrent = 2", "the ladder needs limits.concurrent = 1"),
        ('split = "test"\n', "", "has several splits; name the split of this board"),
        ('split = "test"\n', 'split = "val"\n', "the ladder goes by a board's primary score"),
        ('variant = "2018-11"', 'variant = "2018"', "Unknown variant= '2018'"),
        *(
            (
                'variant = "2018-11"',
                f'{name} = "{choice}"',
                f"stories.toml: scoring.protocol.{name} is '{choice}'",
            )
            for name, choice in (
                ("reversed_segments", "swap"),
                ("negative", "clip"),
                ("beyond", "keep"),
                ("empty", "zero"),
            )
        ),
        ('id = "val"\n', 'id = "val"\nformat = 3\n', "format is a number (3)"),
        ('visibility = "public"\nkind = "stories"', 'visibility = "public"', "of one kind"),
    ],
)
def test_mistakes_with_stories(right, wrong, said):
    assert right in STORIES
    with pytest.raises(DataError) as caught:
        parse_definition(STORIES.replace(right, wrong, 1), "stories.toml")
    assert said in str(caught.value)


def test_files_lie_beside_the_definition(tmp_path):
    (tmp_path / "lsmdc.toml").write_text(LSMDC)
    for name in ("overview.md", "rules.md", "publictest.csv", "nn.json"):
        (tmp_path / name).write_text("x")
    with pytest.raises(DataError) as caught:
        read_definition(tmp_path / "lsmdc.toml")
    assert [line.partition(".toml:")[2] for line in str(caught.value).splitlines()] == [
        " challenge.pages.data: data.md: no such file beside the definition.",
        " split[1].references: blindtest.csv: no such file beside the definition.",
    ]
