"""From judgments to results: quality control, scores, agreement, votes."""
