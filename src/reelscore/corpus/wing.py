"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "corpus": (
        "reelscore.corpus.commands",
        "Build a corpus: align described films, find their narration.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "Make": ["corpus"],
}
