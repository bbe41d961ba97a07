"""Suites: tasks, metrics, published tables and deliberate deviations of one paper each."""

CATALOGUE = {
    "comma": "ludens.suites.comma:comma",
    "comma-baseline": "ludens.suites.comma:baseline",
    "comma-expert": "ludens.suites.comma:expert",
    "comma-manuals": "ludens.suites.comma:manuals",
    "comma-memory": "ludens.suites.comma:memory",
    "comma-mini": "ludens.suites.comma:mini",
    "comma-released": "ludens.suites.comma:released",
    "comma-solver": "ludens.suites.comma:solver",
    "demo": "ludens.suites.demo:SUITE",
    "playground": "ludens.suites.playground:playground",
    "playground-mini": "ludens.suites.playground:mini",
    "playground-sweeps": "ludens.suites.playground:sweeps",
    "vs-bench": "ludens.suites.vs_bench:vs_bench",
    "vs-bench-ablations": "ludens.suites.vs_bench:vs_bench_ablations",
    "vs-bench-mini": "ludens.suites.vs_bench:vs_bench_mini",
}

DATASETS = {
    "vs-bench": "ludens.suites.vs_bench.dataset:build",
}
"""Builders of offline sets, for `ludens data NAME/GAME`."""
