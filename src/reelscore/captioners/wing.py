"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "caption": (
        "reelscore.captioners.commands",
        "Make captions: baselines under a table, or those of any model.",
    ),
}
