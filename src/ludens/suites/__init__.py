"""Suites: the tasks, metrics, published tables and deliberate deviations of one paper each."""

CATALOGUE = {
    "comma": "ludens.suites.comma:Comma",
    "comma-baseline": "ludens.suites.comma:Baseline",
    "comma-expert": "ludens.suites.comma:Expert",
    "comma-manuals": "ludens.suites.comma:Manuals",
    "comma-memory": "ludens.suites.comma:Memory",
    "comma-mini": "ludens.suites.comma:Mini",
    "comma-released": "ludens.suites.comma:Released",
    "comma-solver": "ludens.suites.comma:Solver",
    "comma-strict": "ludens.suites.comma:Strict",
    "demo": "ludens.suites.demo:SUITE",
    "play": "ludens.suites.people:Play",
    "playground": "ludens.suites.playground:Playground",
    "playground-mini": "ludens.suites.playground:Mini",
    "playground-sweeps": "ludens.suites.playground:Sweeps",
    "study": "ludens.suites.people:Study",
    "vision-zero": "ludens.suites.vision_zero:VisionZero",
    "vision-zero-ablations": "ludens.suites.vision_zero:Ablations",
    "vision-zero-mini": "ludens.suites.vision_zero:Mini",
    "viki": "ludens.suites.viki:Viki",
    "viki-mini": "ludens.suites.viki:Mini",
    "vs-bench": "ludens.suites.vs_bench:VsBench",
    "vs-bench-ablations": "ludens.suites.vs_bench:Ablations",
    "vs-bench-mini": "ludens.suites.vs_bench:Mini",
}

PLAYED_BY_PEOPLE = ("play", "study")
"""Suites whose tasks are in their options: nothing to measure in advance."""

GAMES = {
    "vs-bench/kuhn": "ludens.suites.vs_bench.kuhn:KuhnQuestions",
    "vs-bench/predict": "ludens.suites.vs_bench.predict:Predict",
}
"""Games that only suites use."""

DATASETS = {
    "viki": "ludens.suites.viki.dataset:build",
    "vs-bench": "ludens.suites.vs_bench.dataset:build",
}
"""Builders of datasets, for `ludens data NAME/GAME`."""
