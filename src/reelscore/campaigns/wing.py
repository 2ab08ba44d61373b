"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "campaign": (
        "reelscore.campaigns.commands",
        "Ask people: plan, run and evaluate human assessments.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "People": ["campaign", "serve"],
}
