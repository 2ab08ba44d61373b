"""How good the parser is: against known roles, and judged by people."""
