"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "caption": (
        "reelscore.captioners.commands",
        "Make captions: baselines of tables, or those of any model.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {"Make": ["caption"]}
