"""Telehealth: a drawn skin lesion to be named and treated, and a patient who must stay unnamed."""
