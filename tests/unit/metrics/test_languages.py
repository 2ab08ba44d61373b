"""Languages that captions are in: found where they are not English, and never in English."""

from __future__ import annotations

import gzip
import json

import pytest

from reelscore import Scorer, examples, score, score_systems, stories
from reelscore.data.captions.languages import other_languages
from reelscore_studies.judged import trecvid_ha

CAPTIONS = {
    "German": [
        "Ein Mann sitzt auf einer Bank und spielt Gitarre.",
        "Zwei Kinder laufen mit einem Hund über die Wiese.",
    ],
    "French": [
        "Un homme joue de la guitare dans la rue.",
        "Deux enfants courent avec un chien sur la plage.",
    ],
    "Spanish": [
        "Un hombre toca la guitarra en la calle con su amigo.",
        "Los niños corren por la playa y una mujer los mira.",
    ],
    "Portuguese": [
        "Um homem está a tocar guitarra na rua com uma mulher.",
        "Os meninos correm na praia com um cachorro que ladra.",
    ],
    "Italian": [
        "Un uomo suona la chitarra sul palco mentre una donna canta.",
        "Due ragazzi corrono con il cane nella neve.",
    ],
    "Dutch": [
        "Een man speelt gitaar op het podium.",
        "Twee kinderen rennen met een hond naar het strand.",
    ],
    "Polish": [
        "Mężczyzna siedzi na ławce i gra na gitarze.",
        "Kobieta jest w kuchni z dzieckiem, który nie chce jeść.",
    ],
    "Turkish": [
        "Bir adam sahnede gitar çalıyor ve bir kadın dans ediyor.",
        "İki çocuk bir köpek ile oynuyor, bu çok güzel.",
    ],
    "Vietnamese": [
        "Một người đàn ông đang chơi đàn trên sân khấu.",
        "Một con chó đang chạy trong công viên với một người phụ nữ.",
    ],
    "Chinese": ["一个男人在舞台上弹吉他。", "两个孩子和一只狗在海滩上跑步。"],
    "Japanese": ["男性がステージでギターを弾いています。", "子供が犬と一緒に走っている。"],
    "Korean": ["한 남자가 무대에서 기타를 치고 있다.", "두 아이가 개와 함께 달린다."],
    "Thai": ["ผู้ชายกำลังเล่นกีตาร์บนเวที", "เด็กสองคนวิ่งกับสุนัข"],
    "Arabic script": ["رجل يعزف على الغيتار في الشارع", "طفلان يركضان مع كلب على الشاطئ"],
    "Cyrillic script": ["Мужчина играет на гитаре на сцене.", "Двое детей бегут с собакой."],
    "Devanagari script": ["एक आदमी मंच पर गिटार बजा रहा है", "दो बच्चे कुत्ते के साथ दौड़ रहे हैं"],
}
UNSPACED = {"Chinese", "Japanese", "Thai"}


@pytest.mark.parametrize("language", CAPTIONS)
def test_languages(language):
    (spoken,) = other_languages(CAPTIONS[language])
    assert (spoken.name, spoken.share) == (language, 1.0)
    assert spoken.unspaced == (language in UNSPACED)


@pytest.mark.parametrize(
    "captions",
    [
        ["a man is playing a guitar on a stage"],
        ["A café in São Paulo, two men drink a crème de menthe with a señorita."],
        [
            "person play guitar",
            "dog run beach",
            "woman cut onion",
            "man drive van",
            "girl sing song",
        ],
        ["the sign says 北京 and a man walks by it"],
        ["...", "", "42"],
        [],
    ],
)
def test_english(captions):
    assert other_languages(captions) == []


def test_some_of_many():
    mixed = ["a man is playing a guitar on a stage"] * 80 + CAPTIONS["Chinese"] * 10
    assert [str(language) for language in other_languages(mixed)] == ["Chinese (20% of captions)"]


def test_divided_into_words():
    divided = ["一个 男人 在 舞台 上 弹 吉他", "两个 孩子 和 一只 狗 在 海滩 上 跑步"]
    assert [language.unspaced for language in other_languages(divided)] == [False]


def of(texts):
    return {f"v{k}": text for k, text in enumerate(texts)}


def test_notes():
    chinese, german = of(CAPTIONS["Chinese"]), of(CAPTIONS["German"])
    references = {item: [text] for item, text in chinese.items()}
    scores = score(chinese, references, "bleu,meteor,cider")
    assert scores.notes == (
        "captions and references are not English but Chinese: meteor reads English only; bleu and "
        "cider treat everything between blanks as a word, and here blanks are missing (pass "
        'tokenizer="zh").',
    )
    table = score_systems({"a": german, "b": chinese}, references, "bleu")
    assert len(table.notes) == 1  # BLEU reads German words
    assert table.notes[0].startswith("b and references are not English but Chinese: bleu treats")
    scorer = Scorer(references, "meteor")
    scorer.update(chinese)
    assert scorer.compute().notes[0].startswith("references are not English but Chinese: meteor")


def test_no_notes_on_english():
    assert score_systems(*examples.clips()).notes == []
    systems, annotators = examples.stories()
    assert stories.score_systems(systems, annotators.values()).notes == []


def test_stories():
    told = {
        "v1": [
            {"timestamp": [0, 5], "sentence": CAPTIONS["Chinese"][0]},
            {"timestamp": [5, 9], "sentence": CAPTIONS["Chinese"][1]},
        ]
    }
    notes = stories.score(told, [told]).notes
    assert any("not English but Chinese: " in note for note in notes)
    assert "The ActivityNet scorer leaves out characters beyond ASCII" in notes[-1]


@pytest.mark.shared
def test_no_false_alarm_on_real_captions(shared):
    """All TRECVid years, systems and people; all dense captions."""
    sets = 0
    for year in trecvid_ha.YEARS:
        data = trecvid_ha.load(shared / "trecvid-vtt-ha", f"SA-{year}", people=True)
        for texts in (*data.candidates.values(), *data.annotators.values()):
            assert other_languages(list(texts.values())) == []
            sets += 1
    for path in sorted((shared / "dense").glob("*.json.gz")):
        sentences = []

        def collect(record, sentences=sentences):
            for key in ("sentence", "sentences", "caption"):
                value = record.get(key, [])
                sentences.extend([value] if isinstance(value, str) else value)
            return record

        json.loads(gzip.decompress(path.read_bytes()), object_hook=collect)
        assert len(sentences) > 3000
        for begin in range(0, len(sentences), 500):
            assert other_languages(sentences[begin : begin + 500]) == []
            sets += 1
    assert sets > 200
