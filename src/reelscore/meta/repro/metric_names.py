"""The metrics of the BERTHA paper, by the names it gives them and by ours."""

from __future__ import annotations

LEARNED = {"BERTHA-SA": "plain-sa", "BERTHA-MA": "plain-ma", "BERTHA": "bertha"}
METRICS = {
    "BLEU-4": "bleu_4",
    "SentBLEU": "sent_bleu",
    "CIDEr": "cider",
    "METEOR": "meteor",
    "ROUGE-L": "rouge_l",
}
FUSED = ("BLEU-4", "CIDEr", "METEOR", "ROUGE-L")
