"""Captions of a model in a folder, as transformers writes it; nothing is downloaded."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from reelscore._packages import default_device, need
from reelscore.captioners.adapters.adapter import Adapter, ShownClip
from reelscore.captioners.run_record import library_versions
from reelscore.endpoint.chat import ChatReply
from reelscore.errors import DataError, MissingExtraError
from reelscore.learned.networks.encoders import load_weights, loading, read_config, weights_hash

_REMEDY = "If a file of the model is damaged or missing, fetch it again."


@dataclass
class FolderAdapter(Adapter):
    """A model that takes pictures and text; its code is that of transformers alone."""

    folder: Path = Path()  # where it is
    device: str = ""  # ``cuda``, ``cpu``, or nothing for what there is
    kind: ClassVar[str] = "hf"
    _alone: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)
    _processor: Any = field(default=None, init=False, repr=False)
    _model: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self.parallel = 2  # the frames of a batch are read while the one before is described
        config = read_config("caption run", self.folder, "hf:FOLDER")
        torch = _need("torch")
        _check_torchvision(str(torch.__version__), needed=self.sent == "video")
        transformers = _need("transformers")
        transformers.utils.logging.disable_progress_bar()
        transformers.utils.logging.set_verbosity_error()
        self.device = self.device or default_device()
        name = f"{self.folder}: a model of type {config.get('model_type')!r}"
        with loading(name, _REMEDY, "its processor or tokenizer cannot be loaded"):
            self._processor = transformers.AutoProcessor.from_pretrained(
                self.folder, local_files_only=True, trust_remote_code=False
            )
        with loading(name, _REMEDY, "cannot be loaded as one that describes pictures"):
            self._model = load_weights(
                transformers.AutoModelForImageTextToText,
                self.folder,
                dtype="auto" if self.device.startswith("cuda") else None,
                unused="",  # all parts take part in a caption
                local_files_only=True,
                trust_remote_code=False,
            )
        if not getattr(self._processor, "chat_template", None):
            raise DataError(
                f"{self.folder}: the model has no chat template (chat_template.jinja), which says "
                "how pictures and question are put to it."
            )
        if self.sent == "video" and getattr(self._processor, "video_processor", None) is None:
            raise DataError(
                f'{name} takes no videos; leave out sent="video" to send frames as images.'
            )
        self._processor.tokenizer.padding_side = "left"
        self._model.to(self.device).eval()

    @property
    def identity(self) -> str:
        """The folder's name and a hash of the weights."""
        return f"hf:{self.folder.resolve().name} {weights_hash(self.folder)}"

    @property
    def libraries(self) -> Sequence[str]:
        """What runs the model."""
        return ("torch", "transformers")

    def describe(self, batch: Sequence[ShownClip]) -> list[ChatReply]:
        """Describe a batch; the most likely word is taken each time."""
        with self._alone, loading(str(self.folder), _REMEDY, "the model cannot describe a clip"):
            return self._described(batch)

    def _described(self, batch: Sequence[ShownClip]) -> list[ChatReply]:
        torch = _need("torch")
        started = time.monotonic()
        inputs = self._inputs(batch).to(self.device, dtype=self._model.dtype)
        with torch.inference_mode():
            output = self._model.generate(
                **inputs, do_sample=False, max_new_tokens=self.sampling["max_tokens"]
            )
        tokens_in = inputs["attention_mask"].sum(dim=1).tolist()
        ends = self._ends()
        seconds = (time.monotonic() - started) / len(batch)
        answers = []
        for row, length in zip(output[:, inputs["input_ids"].shape[1] :], tokens_in, strict=True):
            words = row.tolist()
            end = next((k for k, token in enumerate(words) if token in ends), None)
            text = self._processor.decode(words[:end], skip_special_tokens=True)
            answers.append(
                ChatReply(
                    text,
                    finish="length" if end is None else "stop",
                    tokens_in=length,
                    tokens_out=len(words) if end is None else end,
                    seconds=seconds,
                )
            )
        return answers

    def _inputs(self, batch: Sequence[ShownClip]) -> Any:
        from jinja2 import TemplateError
        from PIL import Image

        pictures = [[Image.fromarray(each) for each in shown.frames.pictures] for shown in batch]
        texts = []
        for shown, own in zip(batch, pictures, strict=True):
            kind, count = ("video", 1) if self.sent == "video" else ("image", len(own))
            media = [{"type": kind}] * count
            try:
                texts.append(self._chat(media, shown.task, shown.question))
            except TemplateError:  # a model that is told nothing apart from the question
                texts.append(self._chat(media, "", f"{shown.task}\n\n{shown.question}"))
        sent = {"videos" if self.sent == "video" else "images": pictures}
        return self._processor(text=texts, padding=True, return_tensors="pt", **sent)

    def _chat(self, media: list[dict[str, str]], task: str, question: str) -> str:
        """Put pictures and question in the form that the model knows."""
        content = [*media, {"type": "text", "text": question}]
        messages = [{"role": "user", "content": content}]
        if task:
            messages.insert(0, {"role": "system", "content": [{"type": "text", "text": task}]})
        text: str = self._processor.apply_chat_template(
            messages, tokenize=False, add_generation_prompt=True
        )
        return text

    def _ends(self) -> set[int]:
        """Return the tokens at which an answer ends."""
        ends = self._model.generation_config.eos_token_id
        return {ends} if isinstance(ends, int) else set(ends or ())

    def record(self) -> dict[str, Any]:
        """Return the folder, its weights, and where it ran."""
        return {
            "adapter": self.kind,
            "model": str(self.folder),
            "weights": weights_hash(self.folder),
            "device": self.device,
        }


def _need(module: str) -> ModuleType:
    return need(module, "reelscore[torch]", "Captions of a model in a folder need")


def _check_torchvision(torch: str, *, needed: bool) -> None:
    """Refuse a torchvision that does not go with torch: with it, transformers does not load."""
    release = _torchvision_of(torch)
    if find_spec("torchvision") is None:
        if needed:
            raise MissingExtraError.of(
                'Models of transformers take videos with torchvision only (leave out sent="video" '
                "to send frames as images)",
                f"torchvision{release}",
            )
        return
    try:
        import_module("torchvision")
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        there = library_versions(["torchvision"]).get("torchvision", "of an unknown version")
        raise DataError(
            f"torchvision {there} cannot be used with torch {torch} ({reason}). "
            f"Install torchvision{release} from where torch came, built for the same processor or "
            'GPU; or remove it and leave out sent="video": frames sent as images do not need it.'
        ) from error


def _torchvision_of(torch: str) -> str:
    """Return the releases of torchvision that go with a torch: 0.15 with 2.0, and so on.

    >>> _torchvision_of("2.13.0+cpu"), _torchvision_of("3.0")
    ('==0.28.*', '')
    """
    major, minor, *_ = [*torch.split("."), "", ""]
    return f"==0.{int(minor) + 15}.*" if major == "2" and minor.isdecimal() else ""
