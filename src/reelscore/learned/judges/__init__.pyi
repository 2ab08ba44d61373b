from reelscore.learned.judges.judge import Judge as Judge
