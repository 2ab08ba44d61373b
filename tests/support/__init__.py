"""What several tests share: campaigns, a database server, slow twins of fast code."""
