"""A model in the form transformers reads: single precision, ``config.json`` and a head beside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from reelscore.learned.encoders import need
from reelscore.learned.model_files import read_weights


def export_model(model: str, folder: str | Path) -> list[Path]:
    """Write the encoder as transformers has it, and the head and scales as files of their own.

    Args:
        model: The shipped model's name, or a folder.
        folder: Where to; it is made if need be.

    Returns:
        The files.
    """
    info, tensors, tokenizer = read_weights(model)
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    parts: dict[str, dict[str, Any]] = {"encoder": {}, "head": {}}
    for name, value in tensors.items():
        if name.endswith(".scale"):
            continue
        part, _, rest = name.partition(".")
        scale = tensors.get(f"{name}.scale")
        full = value.float() if scale is None else value.float() * scale[:, None]
        parts[part][rest] = full.contiguous()
    save = need("safetensors.torch").save_file
    files = {name: home / f"{name}.safetensors" for name in ("model", "head")}
    save(parts["encoder"], files["model"], {"format": "pt"})
    save(parts["head"], files["head"], {"format": "pt"})
    tokenizer.save(str(home / "tokenizer.json"))
    scales = {"to_z": info.to_z, "to_percent": info.to_percent, "max_length": info.max_length}
    for name, content in (("config.json", info.encoder), ("scales.json", scales)):
        (home / name).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return [*files.values(), *(home / f"{n}.json" for n in ("tokenizer", "config", "scales"))]
