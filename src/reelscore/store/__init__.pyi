from reelscore.store.backups import backup as backup
from reelscore.store.database import Database as Database
from reelscore.store.tables import Migrations as Migrations
