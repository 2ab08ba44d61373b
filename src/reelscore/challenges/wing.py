"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "challenge": (
        "reelscore.challenges.commands",
        "Host a challenge: blind test sets, submissions, leaderboards.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "People": ["challenge"],
}
