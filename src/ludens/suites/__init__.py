"""Suites: the tasks, metrics, published tables and deliberate deviations of one paper each."""

CATALOGUE = {
    "arena": "ludens.suites.arena:Arena",
    "comma": "ludens.suites.comma:CommaSuite",
    "comma-baseline": "ludens.suites.comma:CommaBaseline",
    "comma-expert": "ludens.suites.comma:CommaExpert",
    "comma-manuals": "ludens.suites.comma:CommaManuals",
    "comma-memory": "ludens.suites.comma:CommaMemory",
    "comma-mini": "ludens.suites.comma:CommaMini",
    "comma-released": "ludens.suites.comma:CommaReleased",
    "comma-sight": "ludens.suites.comma:CommaSight",
    "comma-sight-mini": "ludens.suites.comma:CommaSightMini",
    "comma-solver": "ludens.suites.comma:CommaSolver",
    "comma-strict": "ludens.suites.comma:CommaStrict",
    "demo": "ludens.suites.demo:SUITE",
    "files": "ludens.suites.files:Files",
    "play": "ludens.suites.people:Play",
    "playground": "ludens.suites.playground:Playground",
    "playground-mini": "ludens.suites.playground:PlaygroundMini",
    "playground-sight": "ludens.suites.playground:PlaygroundSight",
    "playground-sight-mini": "ludens.suites.playground:PlaygroundSightMini",
    "playground-sweeps": "ludens.suites.playground:Sweeps",
    "study": "ludens.suites.people:Study",
    "vision-zero": "ludens.suites.vision_zero:VisionZero",
    "vision-zero-ablations": "ludens.suites.vision_zero:VisionZeroAblations",
    "vision-zero-mini": "ludens.suites.vision_zero:VisionZeroMini",
    "vision-zero-sight": "ludens.suites.vision_zero:VisionZeroSight",
    "vision-zero-sight-mini": "ludens.suites.vision_zero:VisionZeroSightMini",
    "viki": "ludens.suites.viki:Viki",
    "viki-sight": "ludens.suites.viki:VikiSight",
    "viki-mini": "ludens.suites.viki:VikiMini",
    "vs-bench": "ludens.suites.vs_bench:VsBench",
    "vs-bench-ablations": "ludens.suites.vs_bench:VsBenchAblations",
    "vs-bench-mini": "ludens.suites.vs_bench:VsBenchMini",
    "vs-bench-sight": "ludens.suites.vs_bench:VsBenchSight",
    "vs-bench-sight-mini": "ludens.suites.vs_bench:VsBenchSightMini",
}

TASKS_IN_OPTIONS = ("arena", "files", "play", "study")
"""Suites whose tasks are in their options: nothing to measure in advance."""

GAMES = {
    "files": "ludens.suites.files:FileQuestions",
    "vs-bench/kuhn": "ludens.suites.vs_bench.kuhn:KuhnQuestions",
    "vs-bench/predict": "ludens.suites.vs_bench.predict:Predict",
}

DATASETS = {"viki": "ludens.suites.viki.dataset:build", "vs-bench": "ludens.suites.vs_bench.predict:build"}
"""Builders of datasets, for `ludens data NAME/GAME`."""
