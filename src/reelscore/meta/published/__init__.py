"""Numbers printed in papers about metrics, with their sources."""
