"""Battle of the Colors: meet, but on whose block?"""
