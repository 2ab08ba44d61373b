"""Studies of story metrics: annotators left out, order, oracle stories."""
