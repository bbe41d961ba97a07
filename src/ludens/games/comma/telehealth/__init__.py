"""Telehealth: diagnose and treat a drawn skin lesion without revealing who the patient is."""
