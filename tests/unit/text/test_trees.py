"""Dependency trees are read and written as CoNLL-U."""

from __future__ import annotations

from reelscore.text.parser.trees import read_trees, write_tree

CONTRACTED = """# text = Don't go
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t_\t_

# text = Run
1\tRun\trun\tVERB\tVB\t_\t0\troot\t_\t_
1.1\tfast\tfast\t_\t_\t_\t_\t_\t_\t_
"""


def test_contracted_forms_and_empty_nodes_are_left_out() -> None:
    trees = list(read_trees(CONTRACTED.splitlines()))
    assert [[word.text for word in tree.tokens] for tree in trees] == [["Do", "n't", "go"], ["Run"]]
    assert [word.head for word in trees[0].tokens] == [2, 2, -1]
    assert trees[0].root == 2
    assert trees[0].children[2] == (0, 1)


def test_what_is_written_is_read_again() -> None:
    trees = list(read_trees(CONTRACTED.splitlines()))
    text = "".join(map(write_tree, trees))
    assert list(read_trees(text.splitlines())) == trees
