"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "bertha": (
        "reelscore.learned.commands.bertha",
        "Train BERTHA, the metric learned from human judgments.",
    ),
    "ensemble": (
        "reelscore.learned.commands.ensemble",
        "Combine metrics by weights fitted to people's scores.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "Score": ["bertha", "ensemble"],
}
