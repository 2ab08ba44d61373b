from reelscore.captioners.adapters.caption_run import CaptionRun as CaptionRun
from reelscore.captioners.adapters.caption_run import run as run
from reelscore.captioners.adapters.clip_work import CaptionSettings as CaptionSettings
from reelscore.report.tuples import Roles as Roles
from reelscore.report.tuples import Tuples as Tuples
