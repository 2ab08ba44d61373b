"""The review page of a corpus: one person at this machine corrects what the steps found."""
