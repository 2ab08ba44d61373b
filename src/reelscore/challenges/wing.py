"""What this wing offers to the command line and the web application; see `reelscore.wings`."""

# what is typed: (module, what it does)
COMMANDS = {
    "challenge": (
        "reelscore.challenges.commands",
        "Host a challenge: blind test sets, submissions, leaderboards.",
    ),
}
DEMOS = {"challenge": "reelscore.challenges.commands.demo:challenge_settings"}
PAGES = "reelscore.challenges.pages.wing_pages:ChallengePages"
ASSETS = "reelscore.challenges"
MIGRATIONS = "reelscore.challenges.store.tables:MIGRATIONS"
ACCOUNT_LOG = "reelscore.challenges.store.events:log_account"
RATER_RULE = "reelscore.challenges.people.invitations:may_rate"
# the headings of the first screen, and what is listed there
HEADINGS = {
    "People": ["challenge"],
}
