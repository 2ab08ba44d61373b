"""How far to trust a number: metrics against people, and judgments against their captions."""
