"""Pages of organisers: who they are, and what they can see and do."""
