"""Training: a model gets better by playing. One iteration is `ludens.train.loop.Trainer.iterate`."""
