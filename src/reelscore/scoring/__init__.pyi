from reelscore.scoring.intervals import with_intervals as with_intervals
from reelscore.scoring.sampled_captions import score_samples as score_samples
