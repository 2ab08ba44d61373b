"""What this wing offers to the command line and the web application; see `reelscore.wings`."""

# what is typed: (module, what it does)
COMMANDS = {
    "corpus": (
        "reelscore.corpus.commands",
        "Build a corpus: align described films, find their narration.",
    ),
}
ASSETS = "reelscore.corpus.review"
# the headings of the first screen, and what is listed there
HEADINGS = {"Make": ["corpus"]}
