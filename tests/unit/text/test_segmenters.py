"""Tokenizers of many languages: sacrebleu's tokens, its BLEU, refusals and signatures."""

from __future__ import annotations

import builtins
import sys

import pytest
import sacrebleu

from reelscore import DataError, MissingExtraError, Scorer, UnknownNameError, score, tokenize
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.registry import rebuilt
from reelscore.stories.protocol import Protocol
from reelscore.text import segmenters

# Captions of our own, in the manner of people; the last of each language is a candidate.
CAPTIONS = {
    "zh": [
        "一个穿红色T恤的男人在舞台上弹吉他，观众在鼓掌。",
        "一名男子（30岁左右）正在舞台上弹奏吉他",
        "舞台上有一个男人在弹吉他。",
    ],
    "ja": [
        "赤いシャツの男性がステージでギターを弾いている。",
        "男の人が舞台の上でギターを弾いて、観客が拍手している",
        "男性がステージの上でギターを弾いている。",
    ],
    "ko": [
        "빨간 셔츠를 입은 남자가 무대에서 기타를 치고 있다.",
        "한 남자가 무대 위에서 기타를 연주하고 관객이 박수를 친다",
        "남자가 무대에서 기타를 치고 있다.",
    ],
    "de": [
        "Ein Mann im roten Hemd spielt auf der Bühne Gitarre, das Publikum klatscht.",
        "Auf der Bühne spielt ein Mann (ca. 30) Gitarre!",
        "Ein Mann im Hemd spielt auf der Bühne Gitarre.",
    ],
    "en": [
        "A man in a red shirt isn't singing; he's playing a $1,000 guitar...",
        "On stage, a man plays the guitar &amp; sings.",
        "A man in a red shirt is playing a $1,000 guitar on stage.",
    ],
}
BY_LANGUAGE = [
    *(("zh", name) for name in ("zh", "char", "intl")),
    *(("ja", name) for name in ("ja-mecab", "char")),
    *(("ko", name) for name in ("ko-mecab", "char")),
    *(("de", name) for name in ("13a", "intl", "char")),
    *(("en", name) for name in ("13a", "intl", "zh")),
]


def of(name):
    return sacrebleu.BLEU(tokenize=name).tokenizer


@pytest.mark.parametrize(("language", "name"), BY_LANGUAGE)
def test_tokens_are_those_of_sacrebleu(language, name):
    theirs = [" ".join(of(name)(text.rstrip()).split()) for text in CAPTIONS[language]]
    assert tokenize(CAPTIONS[language], name) == theirs


@pytest.mark.parametrize(("language", "name"), BY_LANGUAGE)
def test_bleu_is_that_of_sacrebleu(language, name):
    *references, candidate = CAPTIONS[language]
    check_bleu([candidate], [references], name)


def check_bleu(candidates, references, name):
    """Compare the scores that have a match of each order: sacrebleu gives 0 to all others."""
    results = score(
        {str(k): text for k, text in enumerate(candidates)},
        {str(k): texts for k, texts in enumerate(references)},
        "bleu",
        tokenizer=name,
    )
    columns = list(zip(*references, strict=True))
    compared = 0
    for order in (1, 2, 3, 4):
        tool = sacrebleu.BLEU(tokenize=name, smooth_method="none", max_ngram_order=order)
        theirs = tool.corpus_score(candidates, [list(column) for column in columns])
        ours = results[f"bleu_{order}"].score
        if theirs.counts[-1]:
            assert ours == pytest.approx(theirs.score / 100, rel=1e-8)
            compared += 1
        else:
            assert ours < 1e-3
    assert compared
    return compared


def cues(path):
    """The sentences of a subtitle file."""
    blocks = path.read_text(encoding="utf-8").split("\n\n")
    return [
        " ".join(lines.splitlines())
        for _, _, lines in (block.partition("-->") for block in blocks)
        for lines in [lines.partition("\n")[2]]
        if lines.strip()
    ]


@pytest.mark.shared
@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("ja", ("ja-mecab", "char", "zh")),
        ("ru", ("13a", "intl", "char")),
        ("ar", ("13a", "intl", "char")),
        ("sv", ("13a", "intl", "char")),
        ("en", ("13a", "intl", "char")),
    ],
)
def test_bleu_of_subtitles(shared, language, names):
    """Each sentence of a film, with its end cut off, against itself and the next one."""
    sentences = cues(shared / "movie" / "elephants_dream" / f"captions.{language}.vtt")
    assert len(sentences) > 50
    cut = [text[: 2 * len(text) // 3] for text in sentences]
    candidates = [
        begun if any(map(str.isalnum, begun)) else text
        for begun, text in zip(cut, sentences, strict=True)
    ]
    references = list(zip(sentences, [*sentences[1:], sentences[0]], strict=True))
    for name in names:
        assert check_bleu(candidates, references, name) == 4


def test_other_metrics_take_the_tokens():
    *references, candidate = CAPTIONS["zh"]
    for name in ("zh", "char", "vatex-zh"):
        results = score(
            {"v": candidate, "w": "狗"},
            {"v": references, "w": ["猫"]},
            "rouge_l,cider",
            tokenizer=name,
        )
        divided = [tokenize([text], name)[0] for text in (candidate, "狗", *references, "猫")]
        same = score(
            {"v": divided[0], "w": divided[1]},
            {"v": divided[2:4], "w": [divided[4]]},
            "rouge_l,cider",
            tokenizer="none",
        )
        for metric in ("rouge_l", "cider"):
            assert results[metric].score == same[metric].score > 0
        assert results.notes == ()


def test_vatex_words():
    text = "一个穿黑运动服、戴红色头盔的男人正在攀登雪山。"
    words = "一个 穿 黑 运动服 、 戴 红色 头盔 的 男人 正在 攀登 雪山 。"
    assert tokenize([text, " ", "a man"], "vatex-zh") == [words, "", "a man"]


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """A small SentencePiece model."""
    import sentencepiece

    path = tmp_path_factory.mktemp("pieces") / "flores200sacrebleuspm"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([text for texts in CAPTIONS.values() for text in texts] * 3),
        model_prefix=str(path),
        vocab_size=300,
        hard_vocab_limit=False,
        minloglevel=3,
    )
    model = path.with_suffix(".model")
    return model


def test_flores(pieces, monkeypatch):
    """With its own model in the place of the one it downloads, sacrebleu gives the same tokens."""
    from sacrebleu.tokenizers import tokenizer_spm

    name = f"flores200:{pieces}"
    home = pieces.parent / "home"
    (home / "models").mkdir(parents=True)
    (home / "models" / "flores200sacrebleuspm").write_bytes(pieces.read_bytes())
    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", str(home))
    theirs = tokenizer_spm.Flores200Tokenizer()
    for texts in CAPTIONS.values():
        assert tokenize(texts, name) == [" ".join(theirs(text).split()) for text in texts]


def test_flores_in_the_signature(pieces, tmp_path):
    first = tmp_path / "a model@home"
    first.write_bytes(pieces.read_bytes())
    name = f"flores200:{first}"
    results = score({"v": "一个男人"}, {"v": ["一个女人"]}, "rouge_l", tokenizer=name)
    signature = results["rouge_l"].signature
    assert "|files:" in signature
    assert "@sentencepiece-" in signature
    assert rebuilt(signature)[1] == name


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flores200", "needs its model, which is not downloaded"),
        ("flores200:nowhere.model", "nowhere.model: no such file"),
        (f"flores200:{__file__}", "not a SentencePiece model"),
    ],
)
def test_flores_without_its_model(name, said):
    with pytest.raises(DataError, match=said):
        tokenize(["a man"], name)


def test_signature():
    for name in ("zh", "ja-mecab", "char"):
        results = score({"v": "男"}, {"v": ["男"]}, "rouge_l", tokenizer=name)
        maker = "" if name == "char" else f"@sacrebleu-{sacrebleu.__version__}"
        assert f"|tok:{name}{maker}|" in results["rouge_l"].signature
        assert rebuilt(results["rouge_l"].signature)[1] == name


@pytest.mark.parametrize(
    ("name", "package"),
    [("zh", "sacrebleu"), ("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko"), ("vatex-zh", "jieba")],
)
def test_a_missing_package_is_named(monkeypatch, name, package):
    segmenters._segmenter.cache_clear()
    for module in [*sys.modules]:
        if module.partition(".")[0] == package:
            monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError) as error:
        tokenize(["a"], name)
    assert str(error.value) == (
        f"The tokenizer {name} needs {package}. To install: pip install 'reelscore[languages]'"
    )


def test_characters_need_no_package(monkeypatch):
    def importing(name, *rest):
        assert "sacrebleu" not in name
        return imported(name, *rest)

    imported = builtins.__import__
    monkeypatch.setattr(builtins, "__import__", importing)
    assert tokenize(["两只狗"], "char") == ["两 只 狗"]


def test_unknown_names():
    with pytest.raises(UnknownNameError, match="Did you mean 'ja-mecab'"):
        tokenize(["a"], "ja-mecap")
    with pytest.raises(UnknownNameError, match="Unknown tokenizer 'zh:model'"):
        tokenize(["a"], "zh:model")


def test_english_metrics_refuse():
    captions, references = {"v": "a man"}, {"v": ["a man"]}
    with pytest.raises(DataError) as error:
        score(captions, references, "bleu,meteor,spice,cider", tokenizer="zh")
    assert str(error.value) == (
        "meteor, spice: made for English in Penn Treebank tokens, not for the tokenizer 'zh'. "
        'Leave them out: metrics="bleu,cider", or use the tokenizer ptb.'
    )
    with pytest.raises(DataError, match=r"meteor: made for English.*Choose another metric, or use"):
        Scorer(references, "meteor", tokenizer="char")
    with pytest.raises(DataError, match="meteor: made for English"):
        Meteor().align("a", "a", "13a")


def test_stories_refuse():
    with pytest.raises(DataError, match="Stories are not scored with the tokenizer 'zh'"):
        Protocol(tokenizer="zh")
    with pytest.raises(UnknownNameError, match="Unknown tokenizer 'zhh'"):
        Protocol(tokenizer="zhh")
