"""Translation of labels into captions: the phrase-based baseline."""
