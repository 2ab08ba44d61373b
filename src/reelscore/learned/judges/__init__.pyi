from reelscore.learned.judges.bertscore import BertScore as BertScore
from reelscore.learned.judges.clipscore import ClipScore as ClipScore
from reelscore.learned.judges.emscore import EmScore as EmScore
from reelscore.learned.judges.judge import Judge as Judge
from reelscore.learned.judges.refclipscore import RefClipScore as RefClipScore
