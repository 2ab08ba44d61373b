"""What this wing offers to the command line and to reports."""

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
    "data": ("reelscore.meta.commands.audits:data", "Describe data sets with human judgments."),
    "similarity": (
        "reelscore.meta.commands.analyse:similarity",
        "Measure how similarly systems or annotators write.",
    ),
    "analyse": (
        "reelscore.meta.commands.analyse",
        "Where scores come from: difficult items, topics of verbs.",
    ),
}
# sections that a report may have, by the option that asks for them
SECTIONS = {"topics": "reelscore.meta.topics:topic_section"}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "Look": ["similarity", "analyse"],
    "Trust": ["meta", "stress", "audit", "data"],
}
