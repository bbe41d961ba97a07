"""Coin Dilemma: two players, two colours of coins, a temptation."""
