"""Who beats whom: tests of the differences between systems in any score table, and clusters."""
