"""Statistics of scores: resampling, significance, corrections; they know nothing of captions."""
