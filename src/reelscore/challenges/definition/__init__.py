"""What a challenge is: its definition in TOML, read, checked and compared."""
