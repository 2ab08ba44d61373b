from reelscore.learned.judges.bertscore import BertScore as BertScore
from reelscore.learned.judges.clipscore import ClipScore as ClipScore
from reelscore.learned.judges.emscore import EmScore as EmScore
from reelscore.learned.judges.judge import Judge as Judge
from reelscore.learned.judges.prompts import Prompt as Prompt
from reelscore.learned.judges.prompts import prompt_names as prompt_names
from reelscore.learned.judges.prompts import read_prompt as read_prompt
from reelscore.learned.judges.refclipscore import RefClipScore as RefClipScore
