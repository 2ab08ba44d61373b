"""Made-up crowds: campaigns with the truth known, and how many HITs a campaign needs."""
