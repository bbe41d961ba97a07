"""VIKI: heterogeneous robots do household tasks together.

Modules import only from those above them:

    world                                   scenes, tasks and what robots can do (`world.toml`)
    rules, bound, floor, replies            what a step does; bounds of plans; the map; answers of players
    models, art                             shapes of camera pictures; sprites of the map
    search, checker                         shortest plans; whether a plan is right
    teams                                   the best team, with a cache of plans
    generate                                scenes with task, plan and team
    sources                                 scenes from the generator, picture sets and released data
    levels, closed_loop                     the games
    views, bots, camera                     what players see; bots; generator of picture sets
"""

CATALOGUE = {"viki": "ludens.games.viki.camera:Kitchens"}
"""Generators of picture sets; they need the extra `robots`."""
