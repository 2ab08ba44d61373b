from reelscore.data.lint.caption_reader import captions_of as captions_of
from reelscore.data.lint.findings import Captions as Captions
from reelscore.data.lint.findings import Example as Example
from reelscore.data.lint.findings import Finding as Finding
from reelscore.data.lint.findings import Findings as Findings
from reelscore.data.lint.fixes import Fix as Fix
from reelscore.data.lint.fixes import fixed as fixed
from reelscore.data.lint.linter import check as check
