"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "meta": (
        "reelscore.meta.commands.meta",
        "Measure which metrics agree with people, and which better.",
    ),
    "audit": (
        "reelscore.meta.commands.audits:audit",
        "Check that captions, references and judgments fit together.",
    ),
    "stress": (
        "reelscore.meta.commands.stress",
        "Damage captions by rule, and see whether scores fall.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {"Trust": ["meta", "stress", "audit"]}
