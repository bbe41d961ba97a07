"""Kuhn poker: poker with three cards and one bet."""
