from reelscore.scoring.intervals import with_intervals as with_intervals
