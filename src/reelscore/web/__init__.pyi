from reelscore.web.app import create_app as create_app
from reelscore.web.settings import Settings as Settings
