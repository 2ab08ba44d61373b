"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "bertha": (
        "reelscore.learned.commands.bertha_commands",
        "Train and measure BERTHA, the metric learned from human judgments.",
    ),
    "ensemble": (
        "reelscore.learned.commands.fit_ensemble",
        "Combine metrics by weights fitted to people's scores.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {"Score": ["bertha", "ensemble"]}
