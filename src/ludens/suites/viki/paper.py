"""Where the suite departs from the VIKI paper and its released code."""

from __future__ import annotations

DEVIATIONS = (
    "Scenes are generated from a simulator; every label is computed, and every picture shows the state that "
    "is scored. In the released data start places are drawn again at every evaluation.",
    "Pictures are maps of the kitchen from above by default; look=camera shows pictures rendered with "
    "MuJoCo, in which other robots stand in for Stompy (Unitree G1) and ANYmal C (Unitree B1).",
    "Level 1: the right team is the one with the shortest plan and, among equals, the fewest robots; scenes "
    "have exactly one. In 71 of 1,000 released scenes an idle robot could do the task as well.",
    "Level 1: the types of the best team are drawn about equally often, one or two of them, and idle robots "
    "mostly have arms, so that neither words nor the list of robots tell the answer; in the released data "
    "597 of 1,000 tasks need one robot.",
    "Level 2: a plan is right if it is no longer than the shortest, which is proven; the released limit is "
    "the length of a hand-written plan, not the shortest in 543 of 1,000 tasks.",
    "Level 2: the picture tells which robots are there and what they are; the paper's prompt lists the "
    "active robots. All robots in the picture may be used.",
    "Level 2: primitives follow consistent rules (variant default): a robot stays where it went, grasps one "
    "thing at a time, needs a free hand to reach, and Close and Handover work.",
    "Level 3: paths come from the simulator; the paper's are drawn by hand. On the map they are on the floor "
    "plan, in coordinates of 512 by 512.",
    "Level 3: an unreadable answer has the diagonal of the picture as its distance and earns nothing; in the "
    "released scorer its distance is 0.",
    "Feedback keeps the rule about the length and allows up to five further attempts: pass@1, pass@3 and "
    "pass@6 with and without the checker's sentence. Pass@1 in the paper's table 3 equals its level 1.",
    "Answers are parsed, never evaluated; code fences, trailing commas, Python literals and lower-case robot "
    "names are accepted. The reward for the form wants exactly one <think> and one <answer> part.",
    "viki/act and viki/team, the closed loops, have no counterpart in the paper.",
)
