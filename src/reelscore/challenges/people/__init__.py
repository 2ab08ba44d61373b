"""Who takes part: teams, tokens, invitations, and people who judge entries."""
