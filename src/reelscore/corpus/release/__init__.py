"""From sentences to a corpus: clips, sets, sizes and files."""
