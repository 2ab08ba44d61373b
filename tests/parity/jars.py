"""The Java tools of pycocoevalcap, spoken to directly so that nothing is written beside them."""

from __future__ import annotations

import lzma
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import pycocoevalcap.meteor.meteor
import pycocoevalcap.tokenizer.ptbtokenizer
from pycocoevalcap.tokenizer.ptbtokenizer import PUNCTUATIONS, STANFORD_CORENLP_3_4_1_JAR

METEOR_FOLDER = Path(pycocoevalcap.meteor.meteor.__file__).parent
ENGLISH = ("-l", "en", "-norm")
PTB_FOLDER = Path(pycocoevalcap.tokenizer.ptbtokenizer.__file__).parent


def ptb_lines(java: str, folder: Path, captions: Sequence[str]) -> list[str]:
    """What the Stanford tokenizer answers to a file of captions, line by line."""
    file = folder / "captions.txt"
    file.write_bytes("\n".join(text.replace("\n", " ") for text in captions).encode())
    done = subprocess.run(
        [
            *(java, "-cp", str(PTB_FOLDER / STANFORD_CORENLP_3_4_1_JAR)),
            *("edu.stanford.nlp.process.PTBTokenizer", "-preserveLines", "-lowerCase", str(file)),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    lines = done.stdout.decode().split("\n")
    # the last line has no end, so that an empty caption at the end leaves no trace
    lines += [""] * (len(captions) - len(lines))
    return lines[: len(captions)]


def without_punctuation(line: str) -> str:
    """What pycocoevalcap makes of a line; it strips any white space at the end, U+00A0 too."""
    return " ".join(word for word in line.rstrip().split(" ") if word not in PUNCTUATIONS)


def tokenizer_class(folder: Path) -> type:
    """pycocoevalcap's own PTBTokenizer, at home in another folder: it writes beside its jar."""
    shutil.copy(PTB_FOLDER / "ptbtokenizer.py", folder)
    (folder / STANFORD_CORENLP_3_4_1_JAR).symlink_to(PTB_FOLDER / STANFORD_CORENLP_3_4_1_JAR)
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("ptbtokenizer_elsewhere", folder / "ptbtokenizer.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PTBTokenizer


class MeteorJar:
    """METEOR 1.5 as pycocoevalcap starts it; section 1 of the specification has the protocol."""

    def __init__(self, java: str, *options: str) -> None:
        self._process = subprocess.Popen(
            [java, "-jar", "-Xmx2G", "meteor-1.5.jar", "-", "-", "-stdio", *(options or ENGLISH)],
            cwd=METEOR_FOLDER,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )

    def statistics(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
        """The line of 23 numbers for each candidate and its references."""
        requests = []
        for candidate, references in pairs:
            candidate = candidate.replace("|||", "").replace("  ", " ")
            requests.append(" ||| ".join(("SCORE", *references, candidate)))
        return list(self._ask(requests, len(requests)))

    def scores(self, statistics: Sequence[str]) -> tuple[list[float], float]:
        """The score of each line of statistics, and that of all together."""
        request = " ||| ".join(("EVAL", *statistics))
        *each, together = map(float, self._ask([request], len(statistics) + 1))
        return each, together

    def _ask(self, requests: Sequence[str], answers: int) -> Iterator[str]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None

        def send() -> None:
            for request in requests:
                stdin.write(request + "\n")
            stdin.flush()

        # aside: the pipe would fill up while nobody reads the answers
        sender = threading.Thread(target=send)
        sender.start()
        for _ in range(answers):
            yield stdout.readline().rstrip("\n")
        sender.join()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


def read_lines(path: Path) -> list[str]:
    return path.read_bytes().decode().replace("\r\n", "\n").removesuffix("\n").split("\n")


def trecvid_files(data: Path) -> list[Path]:
    """All files of system and reference captions, in order."""
    folder = data / "trecvid-vtt-ha"
    kinds = ("systems", "references")
    return sorted(path for kind in kinds for path in folder.glob(f"*/*/{kind}/*"))


def trecvid(data: Path, year: int) -> tuple[dict[str, list[str]], list[list[str]]]:
    """Captions of the systems of a single-annotator year, and the references of each item."""
    folder = data / "trecvid-vtt-ha" / "single-annotator" / str(year)
    references = zip(*map(read_lines, sorted((folder / "references").iterdir())), strict=True)
    systems = {
        path.name.rpartition(".")[2]: read_lines(path)
        for path in sorted((folder / "systems").iterdir())
        if "HUMAN" not in path.name
    }
    return systems, [list(texts) for texts in references]


def web_sentences(data: Path) -> list[str]:
    """Sentences of the English Web Treebank, as they were written."""
    return [
        line.removeprefix("# text = ").rstrip("\n")
        for path in sorted((data / "movie" / "ud_ewt").glob("*.conllu.xz"))
        for line in lzma.open(path, "rt", encoding="utf-8")
        if line.startswith("# text = ")
    ]
