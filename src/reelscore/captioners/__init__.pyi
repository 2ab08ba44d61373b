from reelscore.captioners.adapters.caption_run import CaptionRun as CaptionRun
from reelscore.captioners.adapters.caption_run import run as run
from reelscore.captioners.adapters.clip_work import CaptionSettings as CaptionSettings
from reelscore.text.parser.tuples import Roles as Roles
from reelscore.text.parser.tuples import Tuples as Tuples
from reelscore.text.parser.tuples import read_tuples as read_tuples
