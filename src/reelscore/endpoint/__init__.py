"""Models behind an OpenAI-compatible endpoint: requests, retries, and a journal of the answers."""
