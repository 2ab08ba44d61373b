"""What metrics do with captions damaged on purpose, and with candidates that cheat.

People's captions of TRECVid 2020 against those of four others; the shipped model of BERTHA has
seen these videos. The tables of docs/stress.md come from here, and that of docs/bertha.md, where
BERTHA is tried on all of them.
"""

from __future__ import annotations

from benchmarks.data import read_lines, trecvid_2020
from reelscore.meta import stress_kinds, stress_metrics
from reelscore.meta.stress.stress_report import TITLES, drop_grid, share_grid
from reelscore.text.damages.rules import damage_forms, damage_kinds

METRICS = "bleu,sent_bleu,meteor,rouge_l,cider,spice,fusion,sts,bertscore,bertha"
ITEMS = 200


def main() -> None:
    people = [read_lines(path) for path in trecvid_2020()[1]]
    references = {str(k): list(texts) for k, texts in enumerate(zip(*people, strict=True), start=1)}
    forms = [f"negation/{form}" for form in damage_forms("negation")]
    stress = stress_metrics(METRICS, references, items=ITEMS, kinds=[*stress_kinds(), *forms])
    print(f"{stress.items} originals: {stress.source}; {len(people) - 1} references each")
    for sort, title in TITLES.items():
        print(f"\n{title}\n\n{share_grid(stress, sort).to_markdown()}")
    print(f"\nMean drop\n\n{drop_grid(stress).to_markdown()}")
    damages = [kind for kind in stress_kinds() if kind.partition("/")[0] in damage_kinds()]
    whole = stress_metrics("bertha", references, kinds=damages)
    print(f"\n{whole.items} originals\n\n{share_grid(whole, 'damage').to_markdown()}")
    # few captions say who does what to whom: all of them
    roles = stress_metrics(METRICS, references, kinds=["roles", "roles/beings", "roles/object"])
    print(f"\n{roles.items} originals\n\n{share_grid(roles, 'damage').to_markdown()}")
    print(f"\nMean drop\n\n{drop_grid(roles).to_markdown()}")


if __name__ == "__main__":
    main()
