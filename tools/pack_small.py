"""Put a student of the shipped model into its package, as reelscore-bertha-small.

    python tools/pack_small.py judged.jsonl WEIGHTS_FOLDER PREDICTIONS.npz WAY PACKAGE_FOLDER

WEIGHTS_FOLDER has student-WAY.0 …, and PREDICTIONS.npz the scores of captions held out by students
trained in the same way, as train_bertha.py makes them. Its teacher must be in the package already:
the student's embeddings are the teacher's and are not written again.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from pack_bertha import SEED, YEARS, by_folder, joined, line_to_z, over
from safetensors.torch import load

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.model_files import SHIPPED, SMALL, read_weights, write_model
from reelscore.learned.training.recipes import recipe_of
from reelscore_studies.repro.unseen_years import correlations


def main() -> None:
    judged, weights, predictions, way, package = sys.argv[1:]
    folders = by_folder(read_captions(judged))
    pairs = dict(np.load(predictions))
    scores = {
        f"{way}|{name}": over(pairs[f"{way}|{name}"], rows, "blend")
        for name, rows in folders.items()
    }
    whole, _, tokenizer = read_weights(SHIPPED)
    recipe = recipe_of("student")
    info = replace(
        whole,
        name=SMALL,
        encoder={**whole.encoder, "num_hidden_layers": len(recipe.layers)},
        to_z=tuple(np.round(line_to_z(folders, scores, way), 6)),
        similarity=0.0,
        training={
            **{key: whole.training[key] for key in ("data", "captions", "judged", "elsewhere")},
            "start": f"{len(recipe.layers)} layers of {SHIPPED} {whole.revision}",
            "recipe": str(recipe),
            "seed": SEED,
            "precision": whole.training["precision"],
        },
        agreement={
            "held out": f"{', '.join(YEARS)}, each in turn, from student and teacher alike",
            "overlap": whole.agreement["overlap"],
            **{
                f"{kind}, all references": correlations(folders, scores, way, kind)
                for kind in ("MA", "SA")
            },
        },
        embeddings_of=whole.revision,
    )
    folder = Path(package) / "small"
    done = write_model(folder, load(joined(weights, f"student-{way}")), tokenizer, info)
    (folder / "tokenizer.json").unlink()  # it is the teacher's
    print(done.revision, done.to_z, done.agreement)


if __name__ == "__main__":
    main()
