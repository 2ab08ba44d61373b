"""The same job with pycocoevalcap, as its users write it: from files to the four metrics."""

from __future__ import annotations

import sys
from pathlib import Path

from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.meteor.meteor import Meteor
from pycocoevalcap.rouge.rouge import Rouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

from benchmarks.data import read_lines


def main() -> None:
    candidates, *references = map(Path, sys.argv[1:])
    columns = [read_lines(path) for path in references]
    truth = {k: [{"caption": c} for c in row] for k, row in enumerate(zip(*columns, strict=True))}
    system = {k: [{"caption": c}] for k, c in enumerate(read_lines(candidates))}
    gts, res = PTBTokenizer().tokenize(truth), PTBTokenizer().tokenize(system)
    for scorer in (Bleu(4), Meteor(), Rouge(), Cider()):
        score, _ = scorer.compute_score(gts, res)
        print(scorer.method(), score)


if __name__ == "__main__":
    main()
