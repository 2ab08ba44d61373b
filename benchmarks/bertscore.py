"""BERTScore on the processor: reelscore beside the package bert-score, same encoder, one run.

Both score pairs of one system of TRECVid 2020 and its references, in processes of their own, in
turn. ``python -m benchmarks.bertscore --model FOLDER`` takes another encoder than MiniLM.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.learned import pairs_of

PAIRS, ROUNDS = 1000, 2
VARIANTS = ("bert-score", "reelscore")


def option(name: str, default: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def main() -> None:
    from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder

    count = int(option("--pairs", str(PAIRS)))
    model = option("--model", encoder_folder(DEFAULT_ENCODER))
    print(f"{count:,} pairs of TRECVid 2020, {len(os.sched_getaffinity(0))} threads, {model}")
    total, scoring, scores = {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            for name in VARIANTS:
                out = Path(folder) / f"{name}.npz"
                command = [sys.executable, "-m", "benchmarks.bertscore", name, model, str(count)]
                begun = time.perf_counter()
                subprocess.run([*command, str(out)], check=True)
                seconds = time.perf_counter() - begun
                measured = np.load(out)
                total[name] = min(total.get(name, np.inf), seconds)
                scoring[name] = min(scoring.get(name, np.inf), float(measured["wall"]))
                scores[name] = measured["scores"]
    apart = np.abs(scores["reelscore"] - scores["bert-score"]).max()
    for name in VARIANTS:
        print(
            f"  {name:12} {count / scoring[name]:6.0f} pairs/s "
            f"{scoring['bert-score'] / scoring[name]:5.2f}×   "
            f"from start to end {total[name]:5.1f} s {total['bert-score'] / total[name]:5.2f}×"
        )
    print(f"  largest difference of P, R, F: {apart:.1e}")


def run(name: str, model: str, count: int, out: str) -> None:
    """Score by one variant, in this process."""
    candidates, references = pairs_of(count)
    if name == "bert-score":
        os.environ["HF_HUB_OFFLINE"] = "1"
        import bert_score

        from reelscore.learned.networks.token_vectors import effective_layer

        layer = effective_layer(Path(model), None)
        begun = time.perf_counter()
        columns = bert_score.score(candidates, references, model_type=model, num_layers=layer)
        scores = np.column_stack([column.numpy() for column in columns])
    else:
        from reelscore import score
        from reelscore.learned.metrics.bertscore import BertScore

        names = [str(k) for k in range(count)]
        begun = time.perf_counter()
        results = score(
            dict(zip(names, candidates, strict=True)),
            {key: [text] for key, text in zip(names, references, strict=True)},
            BertScore(model),
        )
        scores = np.column_stack([list(result.items.values()) for result in results.values()])
    np.savez(out, scores=scores, wall=time.perf_counter() - begun)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in VARIANTS:
        run(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
