"""Suites: tasks, metrics, published tables and deliberate deviations of one paper each."""

CATALOGUE = {
    "demo": "ludens.suites.demo:SUITE",
    "playground": "ludens.suites.playground:playground",
    "playground-mini": "ludens.suites.playground:mini",
    "playground-sweeps": "ludens.suites.playground:sweeps",
    "vs-bench": "ludens.suites.vs_bench:vs_bench",
    "vs-bench-mini": "ludens.suites.vs_bench:vs_bench_mini",
}
