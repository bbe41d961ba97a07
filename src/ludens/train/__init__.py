"""Training: a model gets better by playing. One iteration is `ludens.train.loop.Trainer.iterate`."""

MODELS = {"nano": "ludens.train.nano.player:nano_model"}
"""Kinds of models that are trained here."""
