"""What the pages keep beside a campaign: the accounts of organisers, and how raters came in.

The tables lie in the campaigns' database and have a version of their own, so that a database that
is never served has none of them.
"""
