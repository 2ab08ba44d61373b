"""Draws trees of captions that have none, as several trained parsers agree on.

    python models/parser/label.py CAPTIONS OUT TRAINED... --encoder MINILM

One parser learns more from many such trees, of captions like those it will read, than from the
official ones alone: the mistakes of several parsers differ, and their mean has fewer.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from network import Parser
from tokenizers import Tokenizer
from train import Numbers, Sentence, batches, load, scores_of, tensors, to_heads

from reelscore.text.parser.trees import Token, Tree, write_tree


def plain(words: list[str]) -> Tree:
    """A tree that has words alone."""
    return Tree(tuple(Token(word, "_", word, -1, "_") for word in words))


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("captions", type=Path, help="a tokenized caption a line")
    parser.add_argument("out", type=Path, help="the file of trees to write")
    parser.add_argument("trained", type=Path, nargs="+", help="folders that train.py wrote")
    parser.add_argument("--encoder", type=Path, required=True, help="folder of MiniLM")
    arguments = parser.parse_args()
    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    members = [load(folder).to(device).eval() for folder in arguments.trained]
    treebank = members[0].shape.treebanks["teacher"]
    tokenizer = Tokenizer.from_file(str(arguments.encoder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    lines = arguments.captions.read_text(encoding="utf-8").splitlines()
    captions = [words for words in map(str.split, lines) if 0 < len(words) <= 60]
    sentences = Numbers(tokenizer, treebank)(list(map(plain, captions)))
    words_of = {id(sentence): words for sentence, words in zip(sentences, captions, strict=True)}
    with arguments.out.open("w", encoding="utf-8") as file:
        for group in batches(sentences, 8000, None):
            for sentence, tree in zip(group, agreed(members, group, device), strict=True):
                tokens = [
                    Token(word, treebank.tags[tag], word, head - 1, treebank.relations[relation])
                    for word, (tag, head, relation) in zip(
                        words_of[id(sentence)], tree, strict=True
                    )
                ]
                file.write(write_tree(Tree(tuple(tokens))))


def agreed(
    members: list[Parser], group: list[Sentence], device: torch.device
) -> list[list[tuple[int, int, int]]]:
    """Tag, head and relation of each word, by the mean of all members.

    Tags are drawn by how likely they are, so that rare ones are as frequent as they should be;
    trees are the likeliest with these tags.
    """
    batch = tensors(group, device)
    tags = sum(scores_of(member, "teacher", batch)[0].float().softmax(-1) for member in members)
    drawn = torch.distributions.Categorical(tags).sample()
    outputs = [scores_of(member, "teacher", batch, drawn) for member in members]
    heads = sum(arcs.softmax(-1) for _, arcs, _ in outputs).argmax(-1)
    labels = sum(to_heads(labels, heads).float().softmax(-1) for _, _, labels in outputs)
    values = torch.stack([drawn, heads, labels.argmax(-1)], -1).tolist()
    return [
        [tuple(word) for word in words[: len(sentence.tags)]]
        for sentence, words in zip(group, values, strict=True)
    ]


if __name__ == "__main__":
    main()
