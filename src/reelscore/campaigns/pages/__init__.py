"""Pages of campaigns: for raters, and for those who organise."""
