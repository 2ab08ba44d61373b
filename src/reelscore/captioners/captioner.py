"""A trained captioner: a folder with its network, and captions from label scores.

``MODEL/`` holds ``model.json`` (recipe, vocabulary, what was reached), ``best.safetensors`` and
``last.safetensors`` (weights), and the checkpoint of the training. ``model.json`` is written last:
where it is there, the training is over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.decoding import decode
from reelscore.captioners.features import Features
from reelscore.captioners.lstm import CaptionNetwork, NetworkShape, check_device
from reelscore.captioners.run_record import captions_hash
from reelscore.captioners.training import Examples, Measured, Recipe, train
from reelscore.captioners.vocabulary import Vocabulary
from reelscore.data.atomic_files import write_atomically
from reelscore.data.checks import first_few
from reelscore.errors import DataError, check_choice
from reelscore.learned.encoders import need
from reelscore.learned.training.checkpoints import claim_folder

Weights = Literal["best", "last"]
_MODEL = "model.json"


@dataclass(frozen=True)
class Captioner:
    """One network, or several that decide together.

    Attributes:
        networks: The networks, all with one vocabulary.
        vocabulary: Their words.
        longest: The most words of a caption.
        records: What is known of each network: ``model.json``.
    """

    networks: tuple[CaptionNetwork, ...]
    vocabulary: Vocabulary
    longest: int
    records: tuple[Mapping[str, Any], ...]

    @classmethod
    def train(
        cls,
        scores: tuple[Features, Features],
        captions: Mapping[str, Sequence[str]],
        references: Mapping[str, Sequence[str]],
        folder: str | os.PathLike[str],
        recipe: Recipe | None = None,
        *,
        seed: int = 0,
        device: str = "cpu",
        labels: str = "",
        threads: int | None = None,
        progress: Progress | None = None,
        measured: Callable[[Measured], None] | None = None,
    ) -> Captioner:
        """Train a network and write it to a folder; one that was interrupted goes on.

        Args:
            scores: Label scores of the training items and of the validation items.
            captions: The training captions; every caption is learned from.
            references: The validation references, which decide when to stop.
            folder: Where the model goes, created if needed.
            recipe: How to train; by default as the paper, with Adam.
            seed: Random seed.
            device: ``cuda`` or ``cpu``.
            labels: How the labels were made: their signature.
            threads: Threads that score; all cores where not given.
            progress: Called with how many iterations are made, of how many.
            measured: Called after each measurement on validation.

        Raises:
            DataError: If captions have no scores, or another training was begun in the folder.
        """
        check_device(device)
        recipe = recipe or Recipe()
        ours, theirs = (dict(zip(own.items, own.matrix, strict=True)) for own in scores)
        for what, texts, own in (("training", captions, ours), ("validation", references, theirs)):
            missing = [item for item in texts if item not in own]
            if missing:
                raise DataError(
                    f"{len(missing):,} {what} items have no label scores ({first_few(missing)}). "
                    "Train the labels on the same items."
                )
        data = "+".join(
            [captions_hash(captions), captions_hash(references), scores[0].hash, scores[1].hash]
        )
        signature = recipe.signature(labels=scores[0].matrix.shape[1], seed=seed, data=data)
        home = Path(folder)
        claim_folder(home, {"signature": signature, "device": device, "made from": labels})
        if (home / _MODEL).is_file():
            return cls.load(home, device=device)
        trained = train(
            Examples([(item, text) for item, own in captions.items() for text in own], ours),
            references,
            theirs,
            recipe,
            seed=seed,
            device=device,
            folder=home,
            origin=data,
            threads=threads,
            progress=progress,
            measured=measured,
        )
        save = need("safetensors.torch").save_file
        best = trained.network.weights()
        for name, tensors in (("best", best), ("last", trained.last)):
            aside = home / f".{name}.tmp"
            save({n: t.detach().cpu().contiguous() for n, t in tensors.items()}, aside)
            aside.replace(home / f"{name}.safetensors")
        record = {
            "signature": signature,
            "labels": labels,
            "recipe": asdict(recipe),
            "shape": asdict(trained.network.shape),
            "seed": seed,
            "device": device,
            "words": list(trained.vocabulary.words),
            "longest": trained.longest,
            "best": trained.best._asdict(),
            "history": [each._asdict() for each in trained.history],
        }
        write_atomically(home / _MODEL, json.dumps(record, indent=1) + "\n")
        return cls((trained.network,), trained.vocabulary, trained.longest, (record,))

    @classmethod
    def load(
        cls, folder: str | os.PathLike[str], *, weights: Weights = "best", device: str = "cpu"
    ) -> Captioner:
        """Read a trained captioner.

        Args:
            folder: Its folder.
            weights: Those that were ``best`` on validation, or the ``last``.
            device: ``cuda`` or ``cpu``.

        Raises:
            DataError: If there is none, or it is damaged.
        """
        check_choice("weights", weights, get_args(Weights))
        home = Path(folder)
        path = home / _MODEL
        try:
            record = json.loads(path.read_bytes())
            shape = NetworkShape(**record["shape"])
            vocabulary = Vocabulary(tuple(record["words"]))
            longest = int(record["longest"])
        except FileNotFoundError:
            begun = (home / "training.json").is_file()
            state = "its training is not over" if begun else "there is no model"
            raise DataError(
                f"{home}: {state}; expected {_MODEL}, as 'reelscore caption train' writes it."
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path}: cannot be read ({error}). Train the model again.") from error
        network = CaptionNetwork(shape, device=device)
        safetensors = need("safetensors.torch")
        try:
            network.restore(safetensors.load_file(home / f"{weights}.safetensors"))
        except (OSError, KeyError, RuntimeError, need("safetensors").SafetensorError) as error:
            raise DataError(
                f"{home}/{weights}.safetensors: cannot be read ({error}). Train the model again."
            ) from error
        return cls((network,), vocabulary, longest, (record,))

    @classmethod
    def ensemble(
        cls,
        folders: Sequence[str | os.PathLike[str]],
        *,
        weights: Weights = "best",
        device: str = "cpu",
    ) -> Captioner:
        """Read several captioners that decide together: the mean of their word distributions.

        Args:
            folders: Their folders.
            weights: As in `load`.
            device: ``cuda`` or ``cpu``.

        Raises:
            DataError: If they have different words or different numbers of labels.
        """
        if not folders:
            raise DataError("There is no model; name one folder or more.")
        members = [cls.load(folder, weights=weights, device=device) for folder in folders]
        first = members[0]
        for folder, member in zip(folders, members, strict=True):
            if member.vocabulary != first.vocabulary:
                raise DataError(
                    f"{os.fspath(folder)}: has other words than {os.fspath(folders[0])}; an "
                    "ensemble needs models that were trained on the same captions."
                )
        return cls(
            tuple(network for member in members for network in member.networks),
            first.vocabulary,
            max(member.longest for member in members),
            tuple(record for member in members for record in member.records),
        )

    def generate(self, scores: Features | Sequence[Features], *, beam: int = 1) -> dict[str, str]:
        """Write a caption for each item.

        Args:
            scores: Label scores of the items; or one set of them for each network.
            beam: Sentences kept at each step; 1 is greedy.

        Raises:
            DataError: If the scores are not those of the labels the networks were trained on.
        """
        own = [scores] * len(self.networks) if isinstance(scores, Features) else list(scores)
        if len(own) != len(self.networks):
            raise DataError(
                f"{len(own)} sets of label scores for {len(self.networks)} networks; expected one "
                "set for all, or one for each."
            )
        torch = need("torch")
        inputs = []
        for network, features in zip(self.networks, own, strict=True):
            width = features.matrix.shape[1]
            if width != network.shape.labels:
                raise DataError(
                    f"The items have {width:,} label scores, the model was trained on "
                    f"{network.shape.labels:,}. Take the scores of the same labels."
                )
            matrix = np.array(features.take(own[0].items).matrix)
            inputs.append(torch.from_numpy(matrix).to(network.device))
        rows = decode(self.networks, inputs, beam=beam, longest=self.longest)
        return {
            item: self.vocabulary.text(row) for item, row in zip(own[0].items, rows, strict=True)
        }

    def signature(self, beam: int = 1) -> str:
        """Say how captions were made.

        Args:
            beam: As in `generate`.
        """
        parts = [str(record["signature"]) for record in self.records]
        if len(parts) == 1:
            return f"{parts[0]}|beam:{beam}"
        digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]
        return f"{parts[0]}|ensemble:{len(parts)}:{digest}|beam:{beam}"
