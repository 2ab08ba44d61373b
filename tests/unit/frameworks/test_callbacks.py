"""Callbacks of training frameworks, in short real trainings."""

from __future__ import annotations

import math

import pytest

from reelscore import DataError, score

torch = pytest.importorskip("torch")

REFERENCES = {str(k): [f"a man number {k} runs", "a man"] for k in range(6)}
CAPTIONS = {item: f"a man number {item}" if int(item) % 2 else "a man" for item in REFERENCES}
EXPECTED = {
    name: result.score for name, result in score(CAPTIONS, REFERENCES, "cider,rouge_l").items()
}


class Model(torch.nn.Module):
    """A line through a few points; its captions are those above."""

    def __init__(self):
        super().__init__()
        self.line = torch.nn.Linear(1, 1)

    def forward(self, x, y):
        return {"loss": torch.nn.functional.mse_loss(self.line(x), y)}

    def captions(self, ids):
        assert not self.training
        assert not torch.is_grad_enabled()
        return [CAPTIONS[str(item)] for item in ids.tolist()]


def points():
    return [{"id": k, "x": [float(k)], "y": [1.0]} for k in range(6)]


def batch_of(rows):
    return {key: torch.tensor([row[key] for row in rows]) for key in rows[0]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("logged", [False, True])
def test_the_trainer_of_transformers(tmp_path, logged):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("accelerate")
    from reelscore.frameworks.transformers import CaptionScores

    class WithIds(Model):
        def forward(self, id, x, y):
            return super().forward(x, y)

    arguments = transformers.TrainingArguments(
        str(tmp_path),
        per_device_train_batch_size=4,
        per_device_eval_batch_size=4,
        num_train_epochs=2,
        eval_strategy="epoch",
        save_strategy="epoch",
        metric_for_best_model="cider",
        load_best_model_at_end=True,
        remove_unused_columns=False,
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = transformers.Trainer(
        WithIds(), arguments, batch_of, train_dataset=points(), eval_dataset=points()
    )
    scores = CaptionScores(
        REFERENCES,
        lambda model, batch: (batch["id"], model.captions(batch["id"])),
        "cider,rouge_l",
        log=trainer.log if logged else None,
    )
    trainer.add_callback(scores)
    trainer.train()
    history = [entry for entry in trainer.state.log_history if "eval_cider" in entry]
    assert len(history) == 2
    assert all(entry["eval_cider"] == EXPECTED["cider"] for entry in history)
    assert trainer.state.best_metric == EXPECTED["cider"]
    metrics = trainer.evaluate(metric_key_prefix="test")
    assert {name: metrics[f"test_{name}"] for name in EXPECTED} == EXPECTED


@pytest.mark.filterwarnings("ignore")
def test_lightning(tmp_path):
    lightning = pytest.importorskip("pytorch_lightning")
    from reelscore.frameworks.lightning import CaptionScores

    class Module(lightning.LightningModule):
        def __init__(self, output):
            super().__init__()
            self.model, self.output = Model(), output

        def training_step(self, batch, _):
            return self.model(batch["x"], batch["y"])["loss"]

        def validation_step(self, batch, _):
            return self.output(batch["id"], self.model.captions(batch["id"]))

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.01)

    def fit(output):
        batches = torch.utils.data.DataLoader(points(), batch_size=2, collate_fn=batch_of)
        best = lightning.callbacks.ModelCheckpoint(tmp_path, monitor="val_cider", mode="max")
        trainer = lightning.Trainer(
            accelerator="cpu",
            max_epochs=2,
            num_sanity_val_steps=1,
            logger=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            callbacks=[CaptionScores(REFERENCES, "cider,rouge_l"), best],
        )
        trainer.fit(Module(output), batches, batches)
        return trainer, best

    trainer, best = fit(lambda ids, captions: {"ids": ids, "captions": captions})
    for name, value in EXPECTED.items():
        assert trainer.callback_metrics[f"val_{name}"].item() == pytest.approx(value, rel=1e-6)
    assert math.isclose(best.best_model_score.item(), EXPECTED["cider"], rel_tol=1e-6)
    with pytest.raises(DataError, match="validation_step returned nothing; expected a mapping"):
        fit(lambda ids, captions: None)
    with pytest.raises(DataError, match="a mapping with 'ids'; expected"):
        fit(lambda ids, captions: {"ids": ids})
