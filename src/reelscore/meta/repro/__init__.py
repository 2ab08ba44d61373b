"""Published tables, computed anew beside the printed ones."""
