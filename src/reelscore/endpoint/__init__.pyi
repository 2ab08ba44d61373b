from reelscore.endpoint.chat import Endpoint as Endpoint
from reelscore.endpoint.journal import Journal as Journal
from reelscore.endpoint.questions import ChatQuestion as ChatQuestion
from reelscore.endpoint.questions import Usage as Usage
from reelscore.endpoint.questions import ask_all as ask_all
from reelscore.endpoint.questions import chat_request as chat_request
