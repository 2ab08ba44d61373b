"""What this wing offers to the command line."""

# what is typed: (module, what it does)
COMMANDS = {
    "analyse": (
        "reelscore_studies.commands.analyse",
        "Where scores come from, and how alike writers are.",
    ),
    "data": (
        "reelscore_studies.commands.trecvid:data",
        "Describe a data set with human judgments, and convert it.",
    ),
    "repro": ("reelscore_studies.commands.repro", "Recompute published tables and compare them."),
    "meta judged": (
        "reelscore_studies.commands.judged:judged",
        "The tables of metric papers, on the sets that people judged.",
    ),
    "check-parser": (
        "reelscore_studies.commands.check_parser",
        "Measure the parser by known roles, or by what people say.",
    ),
    "lsmdc": (
        "reelscore_studies.commands.lsmdc",
        "Score movie retrieval, multiple choice and fill-in.",
    ),
    "stories study": (
        "reelscore_studies.commands.story_study",
        "Repeat the experiments of the SODA papers on your data.",
    ),
    "campaign study": (
        "reelscore_studies.commands.campaign_study:study",
        "Simulate many campaigns whose truth is known.",
    ),
    "challenge trecvid": (
        "reelscore_studies.commands.trecvid:challenge",
        "Make a challenge of TRECVid's video-to-text task.",
    ),
    "caption retrieve": (
        "reelscore_studies.commands.baselines",
        "Give every item a training sentence: the nearest, the best.",
    ),
    "caption labels": (
        "reelscore_studies.commands.label_commands",
        "Train, filter and apply classifiers of visual labels.",
    ),
    "caption words": (
        "reelscore_studies.commands.label_commands:words",
        "Find frequent verbs, objects and places in captions.",
    ),
    "caption train": (
        "reelscore_studies.commands.network_commands:train",
        "Train a network that describes label scores.",
    ),
    "caption generate": (
        "reelscore_studies.commands.network_commands:generate",
        "Write captions with trained networks.",
    ),
    "caption translate": (
        "reelscore_studies.commands.translate",
        "Find who does what, and translate it into a sentence.",
    ),
    "caption study": (
        "reelscore_studies.commands.caption_study",
        "Run the rows of a plan with several seeds: Tables 7 to 13.",
    ),
    "caption table": (
        "reelscore_studies.commands.caption_table",
        "Print the tables of a finished study.",
    ),
    "caption render": (
        "reelscore_studies.commands.render",
        "Render clips: a synthetic data set whose truth is known.",
    ),
}
NARRATION_METHODS = {
    "spectrogram": "reelscore_studies.narration_methods:SPECTROGRAM",
    "lms": "reelscore_studies.narration_methods:LMS",
}
DEMOS = {"corpus": "reelscore_studies.commands.corpus_demo:build_corpus"}
# the headings of the first screen, and what is listed there
HEADINGS = {
    "Score": ["lsmdc"],
    "Look": ["analyse"],
    "Trust": ["data", "repro", "check-parser"],
}
