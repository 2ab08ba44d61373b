"""Ask people: campaigns of human judgments, from the plan to the significance table."""
