from reelscore.data.captions.caption_files import read_candidates as read_candidates
from reelscore.data.captions.caption_files import read_references as read_references
from reelscore.data.captions.paired_captions import pair as pair
from reelscore.data.reading import Reading as Reading
from reelscore.data.tables.scales import Scale as Scale
from reelscore.data.tables.table import ItemScores as ItemScores
from reelscore.data.tables.table_files import read_table as read_table
from reelscore.data.tables.table_files import write_table as write_table
