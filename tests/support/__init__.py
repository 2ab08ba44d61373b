"""What several tests share: campaigns, servers and browsers, raters, slow twins of fast code."""
