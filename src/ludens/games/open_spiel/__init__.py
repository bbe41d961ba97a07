"""Rules from OpenSpiel behind the Ludens contract."""
