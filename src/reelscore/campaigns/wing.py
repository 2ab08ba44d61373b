"""What this wing offers to the command line and the web application; see `reelscore.wings`."""

# what is typed: (module, what it does)
COMMANDS = {
    "campaign": (
        "reelscore.campaigns.commands",
        "Ask people: plan, run and evaluate human assessments.",
    ),
    "battles": (
        "reelscore.campaigns.commands.battles",
        "Rank systems by battles of two captions, whoever judged them.",
    ),
}
DEMOS = {"campaign": "reelscore.campaigns.commands.demo:demo_settings"}
PAGES = "reelscore.campaigns.pages.open_campaigns:OpenCampaigns"
ASSETS = "reelscore.campaigns"
MIGRATIONS = "reelscore.campaigns.store.schema:MIGRATIONS"
# the headings of the first screen, and what is listed there
HEADINGS = {
    "People": ["campaign", "battles", "serve"],
}
