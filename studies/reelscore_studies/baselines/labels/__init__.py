"""Visual labels: words of captions that classifiers see in clips."""
