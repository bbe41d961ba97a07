"""Training: a model gets better by playing. One iteration is `ludens.train.loop.Trainer.iterate`."""

MODELS = {"small": "ludens.train.small.player:small_model"}
"""Kinds of models that are trained here."""
