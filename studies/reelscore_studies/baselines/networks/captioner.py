"""A trained captioner: a folder with its network, and captions from label scores.

``MODEL/`` holds ``model.json`` (the record of the run, with recipe, vocabulary and what was
reached), ``best.safetensors`` and ``last.safetensors`` (weights), and the checkpoint of the
training. ``model.json`` is written last:
where it is there, the training is over.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from reelscore._packages import need
from reelscore.captioners.run_record import Run, captions_hash
from reelscore.data.atomic_files import write_atomically
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError, check_choice
from reelscore.learned.training.checkpoints import claim_folder, released_on_failure
from reelscore_studies.baselines.clip_features import Features, MissingItems, common_items
from reelscore_studies.baselines.networks.caption_words import Vocabulary
from reelscore_studies.baselines.networks.decoding import decode
from reelscore_studies.baselines.networks.lstm import (
    CaptionNetwork,
    NetworkShape,
    check_device,
    need_torch,
)
from reelscore_studies.baselines.networks.training_run import Examples, TrainingSettings, train

if TYPE_CHECKING:
    from torch import Tensor

    from reelscore_studies.baselines.labels.label_set import Labels

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
        labels: Labels | tuple[Features, Features],
        captions: CaptionsLike,
        references: CaptionsLike,
        folder: str | os.PathLike[str],
        settings: TrainingSettings | None = None,
        *,
        missing: MissingItems = "error",
        made_from: str = "",
        **attributes: Any,
    ) -> Captioner:
        """Train a network and write it to a folder; one that was interrupted goes on.

        Args:
            labels: Trained labels; or label scores of the training items and of the validation
                items.
            captions: The training captions; every caption is learned from.
            references: The validation references, which decide when to stop.
            folder: Where the model goes, created if needed.
            settings: How to train; by default as the paper, with Adam.
            missing: What to do with items that have captions or label scores, but not both.
            made_from: The signature of the labels, where scores are given instead of labels.
            attributes: Those of `TrainingSettings` and of its `NetworkRecipe`, instead of settings.

        Raises:
            DataError: If items do not fit together, or another training was begun in the folder.
        """
        timing = Run()
        need_torch()
        if settings is not None and attributes:
            raise DataError(f"Pass settings, or {', '.join(attributes)}, but not both.")
        settings = settings or TrainingSettings.of(**attributes)
        recipe, seed, device = settings.recipe, settings.seed, settings.device
        check_device(device)
        if not isinstance(labels, tuple):
            made_from = made_from or labels.signature()
            labels = labels.by_split["train"], labels.by_split["val"]
        training, held_out = (
            _examples(references_by_item(texts), own, missing)
            for texts, own in zip((captions, references), labels, strict=True)
        )
        lone_references(held_out.captions)  # checks that none is empty
        hashes = {
            "captions": captions_hash(training.captions),
            "val_refs": captions_hash(held_out.captions),
            "labels_train": training.scores.hash,
            "labels_val": held_out.scores.hash,
        }
        data = "+".join(hashes.values())
        policy = {} if missing == "error" else {"missing": missing}
        width, other = (own.scores.matrix.shape[1] for own in (training, held_out))
        if width != other:
            raise DataError(
                f"Training items have {width:,} label scores, validation items {other:,}. Take "
                "the scores of the same labels."
            )
        _check_labels(held_out.scores, training.scores.labels)
        signature = recipe.signature(labels=width, **policy, seed=seed, data=data)
        home = Path(folder)
        claim_folder(home, {"signature": signature, "device": device, "made from": made_from})
        if (home / _MODEL).is_file():
            return cls.load(home, device=device)
        with released_on_failure(home):
            trained = train(training, held_out, settings, folder=home, origin=data)
        _write_weights(home / "best.safetensors", trained.network.weights())
        _write_weights(home / "last.safetensors", trained.last)
        record = timing.record(
            signature,
            seed=seed,
            data=hashes,
            libraries=["torch", "safetensors"],
            labels=made_from,
            labels_hash=training.scores.labels,
            recipe=asdict(recipe),
            shape=asdict(trained.network.shape),
            device=device,
            words=list(trained.vocabulary.words),
            longest=trained.longest,
            best=trained.best._asdict(),
            history=[each._asdict() for each in trained.history],
        )
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
        torch = need_torch()
        inputs = []
        for network, record, features in zip(self.networks, self.records, own, strict=True):
            width = features.matrix.shape[1]
            if width != network.shape.labels:
                raise DataError(
                    f"The items have {width:,} label scores, the model was trained on "
                    f"{network.shape.labels:,}. Take the scores of the same labels."
                )
            _check_labels(features, record.get("labels_hash", ""))
            matrix = np.array(features.take(own[0].items).matrix)
            inputs.append(torch.from_numpy(matrix).to(network.device))
        rows = decode(self.networks, inputs, beam=beam, longest=self.longest)
        return {
            item: self.vocabulary.text(row) for item, row in zip(own[0].items, rows, strict=True)
        }

    def signature(self, beam: int = 1) -> str:
        """Return how captions were made.

        Args:
            beam: As in `generate`.
        """
        parts = [str(record["signature"]) for record in self.records]
        own, _, version = parts[0].rpartition("|v:")
        if len(parts) > 1:
            digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]
            own += f"|ensemble:{len(parts)}:{digest}"
        return f"{own}|beam:{beam}|v:{version}"


def _examples(
    texts: Mapping[str, Sequence[str]], scores: Features, missing: MissingItems
) -> Examples:
    """Put captions and label scores of the same items together."""
    own = scores.take(common_items(texts, scores.items, missing, "label scores"))
    return Examples({item: texts[item] for item in own.items}, own)


def _write_weights(path: Path, weights: Mapping[str, Tensor]) -> None:
    aside = path.with_name(f".{path.stem}.tmp")
    tensors = {name: weight.detach().cpu().contiguous() for name, weight in weights.items()}
    need("safetensors.torch").save_file(tensors, aside)
    aside.replace(path)


def _check_labels(scores: Features, expected: str) -> None:
    """Refuse scores of other labels than expected, where both are known by their hash."""
    if scores.labels and expected and scores.labels != expected:
        raise DataError(
            f"The items have scores of other labels ({scores.labels}) than those the model is "
            f"trained on ({expected}). Take the scores of the same labels."
        )
