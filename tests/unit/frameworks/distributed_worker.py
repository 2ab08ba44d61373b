"""One of two processes that score captions together; prints its scores as JSON."""

from __future__ import annotations

import json
import sys
import warnings

from reelscore import DataError, Scorer
from reelscore.frameworks import gather

METRICS = "bleu,cider,rouge_l"


def main() -> None:
    from torch import distributed

    from reelscore.frameworks.torchmetrics import CaptionMetric

    place, rank = sys.argv[1], int(sys.argv[2])
    references, captions = json.loads(sys.argv[3])
    distributed.init_process_group("gloo", init_method=place, rank=rank, world_size=2)
    ids = list(references)
    padded = [*ids, ids[0]] if len(ids) % 2 else ids  # as DistributedSampler does it
    own = padded[rank::2]

    metric = CaptionMetric(references, METRICS, threads=1)
    for item in own:  # a batch each
        metric.update([item], [captions[item]])
    together = {name: value.item() for name, value in metric.compute().items()}
    kept = sum(map(len, metric.rows))  # afterwards each has its own again

    idle = CaptionMetric(references, METRICS, missing="skip", threads=1)
    if rank == 0:
        idle.update(ids, [captions[item] for item in ids])
    with warnings.catch_warnings():  # torchmetrics warns: one process had nothing to update
        warnings.simplefilter("ignore")
        alone = {name: value.item() for name, value in idle.compute().items()}

    scorer = Scorer(references, METRICS, threads=1)
    scorer.update(own, [captions[item] for item in own])
    gather(scorer)
    gathered = {name: result.score for name, result in scorer.compute().items()}

    other = CaptionMetric({**references, ids[0]: [f"of process {rank}"]}, METRICS, threads=1)
    other.update(own, [captions[item] for item in own])
    try:
        other.compute()
        refusal = ""
    except DataError as error:
        refusal = str(error)
    distributed.destroy_process_group()
    print(json.dumps([together, kept, alone, gathered, refusal]))


if __name__ == "__main__":
    main()
