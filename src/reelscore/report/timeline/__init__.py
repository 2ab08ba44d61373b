"""The timeline of a video: text, picture or page."""
