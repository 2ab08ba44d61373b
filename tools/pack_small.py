"""Put a student of the shipped model into its package, as reelscore-bertha-small.

    reelscore bertha train judged.jsonl run --recipe student --elsewhere elsewhere.jsonl --seed 2022
    python tools/pack_small.py judged.jsonl run/model PREDICTIONS.npz WAY PACKAGE_FOLDER

PREDICTIONS.npz has the scores of captions held out by students that train_bertha.py trained in the
same WAY. The student's embeddings are those of the shipped model and are not written again.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
from pack_bertha import KEPT, YEARS, by_folder, over

from reelscore.learned.judged_captions import read_captions
from reelscore.learned.model_files import EMBEDDINGS, SHIPPED, SMALL, read_weights, write_tensors
from reelscore.learned.training.held_out import hold_out
from reelscore.meta.held_out import correlations


def main() -> None:
    judged, model, predictions, way, package = sys.argv[1:]
    captions = read_captions(judged)
    pairs = dict(np.load(predictions))
    whole, teacher, _ = read_weights(SHIPPED)
    info, tensors, _ = read_weights(model)
    for name, value in tensors.items():
        if name.startswith(EMBEDDINGS) and not np.array_equal(value, teacher[name]):
            sys.exit(f"{model}: {name} is not that of {SHIPPED}.")
    years = [year for year in YEARS if f"{way}|MA-{year}" in pairs]
    folders = {name: rows for name, rows in by_folder(captions).items() if name[3:] in years}
    scores = {
        f"{way}|{name}": over(pairs[f"{way}|{name}"], rows, "blend")
        for name, rows in folders.items()
    }
    info = replace(
        info,
        name=SMALL,
        encoder={key: info.encoder[key] for key in KEPT},
        to_z=tuple(np.round(info.to_z, 6)),
        to_percent=tuple(np.round(info.to_percent, 4)),
        training={key: whole.training[key] for key in ("data", "captions", "judged", "elsewhere")}
        | {
            "start": f"{info.encoder['num_hidden_layers']} layers of {SHIPPED} {whole.revision}",
            **{key: info.training[key] for key in ("recipe", "seed", "steps")},
            "precision": whole.training["precision"],
        },
        agreement={
            "held out": f"{', '.join(years)}, each in turn, from student and teacher alike; both "
            "of another seed (2042)",
            "overlap": {year: hold_out(captions, year).overlap._asdict() for year in years},
            **{
                f"{kind}, all references": correlations(folders, scores, way, kind)
                for kind in ("MA", "SA")
            },
        },
        embeddings_of=whole.revision,
    )
    own = {name: value for name, value in tensors.items() if not name.startswith(EMBEDDINGS)}
    folder = Path(package) / "small"
    folder.mkdir(exist_ok=True)
    done = write_tensors(folder, own, info)
    print(done.revision, done.agreement)


if __name__ == "__main__":
    main()
