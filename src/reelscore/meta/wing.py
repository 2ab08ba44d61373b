"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "meta": (
        "reelscore.meta.commands.meta",
        "Measure which metrics agree with people, and which better.",
    ),
    "audit": (
        "reelscore.meta.commands.audit",
        "Check that captions, references and judgments fit together.",
    ),
    "stress": (
        "reelscore.meta.commands.stress",
        "Damage captions by rule, and see whether scores fall.",
    ),
    "data": ("reelscore.meta.commands.data", "Describe data sets with human judgments."),
    "similarity": (
        "reelscore.meta.commands.similarity",
        "Measure how similarly systems or annotators write.",
    ),
    "analyse": (
        "reelscore.meta.commands.analyse",
        "Where scores come from: difficult items, topics of verbs.",
    ),
}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "Look": ["similarity", "analyse"],
    "Trust": ["meta", "stress", "audit", "data"],
}
# what a report may show, too: (its option, what makes the section)
SECTIONS = {"topics": "reelscore.meta.report.topic_page:topic_section"}
