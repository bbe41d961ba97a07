"""Studies with people: consent, questionnaires, tasks alone, with a model or with another participant."""
