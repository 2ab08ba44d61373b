from reelscore.endpoint.prompts import Prompt as Prompt
from reelscore.learned.judges.judge import Judge as Judge
from reelscore.learned.judges.prompts import prompt_names as prompt_names
from reelscore.learned.judges.prompts import read_prompt as read_prompt
