from reelscore.report.plots.figures import draw_table as draw_table
from reelscore.report.tables.grid import Grid as Grid
from reelscore.report.tables.leaderboard import leaderboard as leaderboard
from reelscore.report.timeline.drawings import timeline_text as timeline_text
from reelscore.report.timeline.drawings import write_timeline as write_timeline
from reelscore.report.training_log import TrainingLog as TrainingLog
