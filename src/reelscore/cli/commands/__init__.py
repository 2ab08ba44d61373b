"""The commands of the core, one file each; `main` knows their names."""
