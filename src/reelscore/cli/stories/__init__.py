"""``reelscore stories`` and the commands below it."""
