"""Captioners of the movie-description paper: neighbours, labels, and networks that tell them."""
