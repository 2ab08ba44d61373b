from reelscore.data.lint.findings import Finding as Finding
from reelscore.data.lint.findings import Findings as Findings
