"""Games whose rules come from OpenSpiel."""
