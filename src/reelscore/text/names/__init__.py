"""Names of people, and captions without them."""
