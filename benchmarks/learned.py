"""BERTHA on the processor: reelscore beside a plain loop of transformers, same weights, one run."""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.data import read_lines, trecvid_2020

PAIRS = 600


def main() -> None:
    import torch
    from safetensors.torch import load_file
    from transformers import AutoModel, BertTokenizerFast

    from reelscore.learned.exporting import export_model
    from reelscore.learned.pair_scores import PairScorer

    threads = len(os.sched_getaffinity(0))
    torch.set_num_threads(threads)
    system, references = trecvid_2020()
    columns = [read_lines(path) for path in references]
    pairs = [
        (caption, column[k]) for k, caption in enumerate(read_lines(system)) for column in columns
    ][:PAIRS]
    candidates, texts = [a for a, _ in pairs], [b for _, b in pairs]
    with tempfile.TemporaryDirectory() as folder:
        export_model("reelscore-bertha", folder)
        encoder = AutoModel.from_pretrained(folder).eval()
        tokenizer = BertTokenizerFast(tokenizer_file=str(Path(folder) / "tokenizer.json"))
        head = load_file(Path(folder) / "head.safetensors")

        def plain() -> np.ndarray:
            found = []
            with torch.inference_mode():
                for k in range(0, len(pairs), 32):
                    batch = tokenizer(
                        candidates[k : k + 32],
                        texts[k : k + 32],
                        padding=True,
                        truncation=True,
                        max_length=128,
                        return_tensors="pt",
                    )
                    hidden = encoder(**batch).last_hidden_state[:, 0]
                    inner = torch.tanh(hidden @ head["1.weight"].T + head["1.bias"])
                    found.append((inner @ head["4.weight"].T + head["4.bias"])[:, 0])
            return torch.cat(found).numpy()

        scorers = {dtype: PairScorer("reelscore-bertha", dtype) for dtype in ("float32", "int8")}
        low, slope = scorers["float32"].info.to_z
        print(f"{len(pairs):,} pairs of TRECVid 2020, {threads} threads; CPU time, best of three")
        best: dict[str, float] = {}
        scores: dict[str, np.ndarray] = {}
        for _ in range(3):
            for name, work in (
                ("transformers", plain),
                *((d, lambda s=s: s.score(candidates, texts, threads)) for d, s in scorers.items()),
            ):
                begin = time.process_time()
                scores[name] = work()
                best[name] = min(best.get(name, np.inf), time.process_time() - begin)
    base = low + slope * scores["transformers"]
    for name, seconds in best.items():
        ours = base if name == "transformers" else scores[name]
        rate, ratio = len(pairs) / seconds, best["transformers"] / seconds
        r, apart = np.corrcoef(ours, base)[0, 1], np.abs(ours - base).max()
        print(f"  {name:12} {rate:6.0f} pairs/s {ratio:6.2f}×  differs by {apart:.1e}, r {r:.6f}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {peak:.0f} MB peak, all three together")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
