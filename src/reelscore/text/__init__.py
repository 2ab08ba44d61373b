"""From captions to words: packed strings, PTB tokens, word ids, and METEOR's language data."""
