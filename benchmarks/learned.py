"""BERTHA on the processor: beside plain transformers and our own torch, same weights, one run.

Every variant runs in a process of its own, several times in turn, all on the pairs of one system of
TRECVid 2020 with its five references. Plain is what transformers' guides show: batches of 32 in
the order given, padded to the longest, each different text embedded once; torch is what a GPU would
run; small is bertha-small, which has other weights. Rates are of wall time and of CPU time (pairs a
second of one core), which says more on a busy machine. ``python -m benchmarks.learned --pairs N``
takes fewer pairs.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.data import read_lines, trecvid_2020

PAIRS, ROUNDS, WARM_UP = 2000, 3, 64
VARIANTS = ("transformers", "torch-float32", "torch-int8", "float32", "int8", "small")


def pairs_of(count: int) -> tuple[list[str], list[str]]:
    """The first pairs of captions and references, reference by reference."""
    system, references = trecvid_2020()
    columns = [read_lines(path) for path in references]
    pairs = [(text, c[k]) for k, text in enumerate(read_lines(system)) for c in columns][:count]
    return [a for a, _ in pairs], [b for _, b in pairs]


def main() -> None:
    count = int(sys.argv[sys.argv.index("--pairs") + 1]) if "--pairs" in sys.argv else PAIRS
    candidates, references = pairs_of(count)
    once = len(set(zip(candidates, references, strict=True)))
    threads = len(os.sched_getaffinity(0))
    print(f"{len(candidates):,} pairs of TRECVid 2020, {once:,} different; {threads} threads")
    variants = VARIANTS if find_spec("torch") and find_spec("transformers") else VARIANTS[-3:]
    cpu, wall, peak, scores = {}, {}, {}, {}
    with tempfile.TemporaryDirectory() as folder:
        from reelscore.learned.model_files import export_model

        export_model("reelscore-bertha", folder)
        for _ in range(ROUNDS):
            for name in variants:
                out = Path(folder) / f"{name}.npz"
                command = [sys.executable, "-m", "benchmarks.learned", name, folder, str(count)]
                subprocess.run([*command, str(out)], check=True)
                measured = np.load(out)
                cpu[name] = min(cpu.get(name, np.inf), float(measured["cpu"]))
                wall[name] = min(wall.get(name, np.inf), float(measured["wall"]))
                peak[name], scores[name] = int(measured["peak"]) / 1024, measured["scores"]
    base = scores[variants[0]]
    for name in variants:
        ratios = (
            f"{cpu[variants[0]] / cpu[name]:.2f}× CPU {wall[variants[0]] / wall[name]:.2f}× wall"
        )
        apart, r = np.abs(scores[name] - base), np.corrcoef(scores[name], base)[0, 1]
        print(
            f"  {name:13} {count / wall[name]:5.0f} pairs/s {count / cpu[name]:5.0f} per core"
            f"  {ratios}  {peak[name]:4.0f} MB peak"
            f"  differs by {apart.max():.1e}, mean {apart.mean():.1e}, r {r:.6f}",
            flush=True,
        )


def child(name: str, folder: str, count: int, out: str) -> None:
    """Load one variant, warm it up, and measure one pass; loading is not counted."""
    threads = len(os.sched_getaffinity(0))
    candidates, references = pairs_of(count)
    work = plain(folder, threads) if name == VARIANTS[0] else ours(name, threads)
    work(candidates[:WARM_UP], references[:WARM_UP])
    cpu, wall = time.process_time(), time.perf_counter()
    scores = work(candidates, references)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    status = Path("/proc/self/status").read_text()
    peak = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    np.savez(out, scores=scores, cpu=cpu, wall=wall, peak=int(peak))


def ours(name, threads):
    from reelscore.learned.networks import pair_scores

    if name.startswith("torch-"):
        from reelscore.learned.networks.bert_torch import TorchBert

        def on_cpu(tensors, config, dtype, pooling, head, device):
            return TorchBert(tensors, config, dtype, pooling, head, "cpu")

        pair_scores.open_bert = on_cpu
    if name == "small":
        scorer = pair_scores.PairScorer("reelscore-bertha-small", "int8")
    else:
        scorer = pair_scores.PairScorer("reelscore-bertha", name.removeprefix("torch-"))
    return lambda candidates, references: scorer.score(candidates, references, threads)


def plain(folder, threads, device="cpu", batch_size=32):
    """What transformers' guides show, in single precision."""
    import json

    import torch
    import transformers
    from safetensors.torch import load_file

    torch.set_num_threads(threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    home = Path(folder)
    encoder = transformers.AutoModel.from_pretrained(folder).eval().to(device)
    tokenizer = transformers.BertTokenizerFast(tokenizer_file=str(home / "tokenizer.json"))
    head = load_file(home / "head.safetensors", device)
    scales = json.loads((home / "scales.json").read_text())
    low, slope = scales["to_z"]
    sentences = transformers.BertModel(encoder.config, add_pooling_layer=False).eval()
    sentences.load_state_dict(load_file(home / "similarity.safetensors"))
    sentences.to(device)

    def vectors(texts):
        rows = []
        for k in range(0, len(texts), batch_size):
            batch = tokenizer(
                texts[k : k + batch_size],
                padding=True,
                truncation=True,
                max_length=128,
                return_tensors="pt",
            ).to(device)
            mask = batch["attention_mask"][:, :, None]
            sums = (sentences(**batch).last_hidden_state * mask).sum(dim=1)
            rows.append(torch.nn.functional.normalize(sums))
        return torch.cat(rows)

    def cosines(candidates, references):
        place = {text: k for k, text in enumerate(dict.fromkeys([*candidates, *references]))}
        rows = vectors(list(place))
        one, two = (rows[[place[text] for text in side]] for side in (candidates, references))
        return (one * two).sum(dim=1)

    def work(candidates, references):
        outputs = []
        with torch.inference_mode():
            for k in range(0, len(candidates), batch_size):
                batch = tokenizer(
                    candidates[k : k + batch_size],
                    references[k : k + batch_size],
                    padding=True,
                    truncation=True,
                    max_length=128,
                    return_tensors="pt",
                ).to(device)
                hidden = encoder(**batch).last_hidden_state[:, 0]
                inner = torch.tanh(hidden @ head["1.weight"].T + head["1.bias"])
                outputs.append((inner @ head["4.weight"].T + head["4.bias"])[:, 0])
            own = torch.cat(outputs) + scales["similarity"] * cosines(candidates, references)
        return low + slope * own.double().cpu().numpy()

    return work


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in VARIANTS:
        child(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
