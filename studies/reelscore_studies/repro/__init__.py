"""Published tables, recomputed and compared with the printed ones."""
