"""Spy: players describe their pictures, one of which differs, and vote for the player who has that one."""
