"""Regular expressions of what models and programs leave in captions."""

from __future__ import annotations

import msgspec

from reelscore.data.lint.findings import Severity


class Pattern(msgspec.Struct, frozen=True):
    """A defect that a regular expression finds in text of small letters.

    The expression is compiled and tried only where a caption holds a hint, or begins with a
    certain word: nothing of that is in a clean file, and looking for it is quick.
    """

    check: str
    severity: Severity
    expression: str
    holds: str
    remedy: str
    hints: tuple[str, ...] = ()
    first_words: frozenset[str] = frozenset()


# Markers of vocabularies and chat templates; those of unknown words stand for a word.
UNKNOWN_WORD = r"<unk(?:nown)?>|\[unk\]|\bunk\b"
MARKER = (
    r"<\|[^|<>\n]{1,40}\|>|<0x[0-9a-f]{2}>|<</?sys>>|\[/?inst\]|\[(?:sep|cls|pad|mask|eos|bos)\]"
    r"|</?(?:s|eos|bos|sos|pad|mask|sep|cls|start|end|image|video|img|vid|audio|answer|caption"
    r"|startoftext|endoftext|start_of_turn|end_of_turn|start_of_image|image_soft_token|n)>"
    r"|<extra_id_\d+>|\bstartseq\b|\bendseq\b"
)
_THINKING = r"</?(?:think|thinking|reasoning)>"
_SUBWORDS = r"[▁ġċ]|\w@@(?= |$)|(?:^| )##[a-z]"
_ENTITY = r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,8}\d{0,2});"
_TAG = r"</?(?:br|p|b|i|em|strong|div|span|ul|ol|li|font|a)\b[^<>\n]*>"

# Control characters, byte-order marks and other invisible characters. Joiners are part of emoji
# and of some scripts.
CONTROL = r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff\u200b\u2060\u00ad\ufff9-\ufffb]"

_PROMPT = (
    r"^\W*(?:(?:sure|certainly|of course|okay|ok)\s?[,!.:]\s*(?:here|i\b|the|this)"
    r"|here(?:['’]s| is| are) (?:a|an|the|your|my|one|some)(?: [\w-]+){0,4} "
    r"(?:captions?|descriptions?|summary|sentence)\b"
    r"|as an ai\b|i(?:['’]m| am) (?:sorry|unable)\b|i apologi[sz]e\b"
    r"|i (?:can['’]?t|cannot|can not) (?:see|view|watch|describe|provide|access|help|determine)"
    r"|(?:please )?(?:describe|summari[sz]e|caption|generate|write|provide) "
    r"(?:a|an|the|this|what|one|in)\b.*\b(?:video|clip|image|scene|caption|sentence)s?\b"
    r"|(?:what|how|where|who) (?:is|are|does|do)\b.*\?"
    r"|(?:user|assistant|human|system|question|answer|caption|description|output|response|gpt"
    r"|[qa]) ?:"
    r")|\b(?:user|assistant|human): |^###"
)
_PROMPT_WORDS = (
    "sure certainly of okay ok here here's here’s as i i'm i’m please describe summarize summarise "
    "caption generate write provide what how where who user assistant human system question "
    "answer description output response gpt q a:"
)
_PLACEHOLDERS = "nan|none|null|n/?a|error|todo|tbd|undefined|no caption|removed|deleted|placeholder"

PATTERNS = [
    Pattern(
        "markers",
        "error",
        f"{MARKER}|{UNKNOWN_WORD}|{_THINKING}|{_SUBWORDS}",
        "a marker of a model, such as {match!r}",
        "Decode without special tokens; 'reelscore check --fix' removes those that do not stand "
        "for a word.",
        hints=("<", "[", "unk", "seq", "@@", "##", "▁", "ġ", "ċ"),
    ),
    Pattern(
        "html",
        "error",
        f"{_ENTITY}|{_TAG}",
        "HTML, such as {match!r}",
        "Convert to plain text; 'reelscore check --fix' does that for entities.",
        hints=("&", "<"),
    ),
    Pattern(
        "prompt",
        "error",
        _PROMPT,
        "a prompt, the opening of an answer, or a refusal",
        "Keep the caption alone.",
        hints=("user:", "assistant:", "human:", "###"),
        first_words=frozenset(_PROMPT_WORDS.split()),
    ),
    Pattern(
        "markdown",
        "error",
        r"\*\*[^\s*][^*\n]*\*\*|^#{1,6} \S|^\s*[-*•] \S|^\s*\d{1,2}[.)] \S|```"
        r"|\[[^\]\n]+\]\(https?:",
        "Markdown, such as {match!r}",
        "Ask the model for plain text, or remove it.",
        hints=("**", "```", "](", "\n- ", "\n* ", "\n1", "# "),
        first_words=frozenset(["-", "*", "•", *(f"{n}{c}" for n in range(100) for c in ".)")]),
    ),
    Pattern(
        "structure",
        "error",
        r"""^\s*(?:\{.*:.*\}|\[\s*['"].*['"]\s*\]|b'.*'|b".*")\s*$""",
        "JSON, a list or bytes instead of a text",
        "Take the caption out of it.",
        hints=("{", "[", "b'", 'b"'),
    ),
    Pattern(
        "placeholder",
        "error",
        rf"^\W*(?:{_PLACEHOLDERS})\W*$",
        "a placeholder instead of a caption",
        "Make these captions again.",
        first_words=frozenset({*_PLACEHOLDERS.split("|"), "n/a", "na", "no"}),
    ),
    Pattern(
        "replaced",
        "error",
        "\N{REPLACEMENT CHARACTER}|\u00ef\u00bf\u00bd",
        "replacement characters, where letters were lost",
        "Make the file again as UTF-8; what is lost cannot be restored.",
        hints=("\N{REPLACEMENT CHARACTER}", "\u00ef\u00bf\u00bd"),
    ),
    Pattern(
        "escapes",
        "warning",
        r"\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[nrt\"'])",
        "escape codes, such as {match!r}",
        "Decode the text once more.",
        hints=("\\",),
    ),
    Pattern(
        "quotes",
        "warning",
        r"""^\s*(?:"[^"\n]+"|“[^”\n]+”)\s*$""",
        "nothing but a text in quotes",
        "Remove the quotes, if they are not part of the caption.",
        hints=('"', "“"),
    ),
]
