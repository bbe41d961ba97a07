"""Suites: tasks, metrics, published tables and deliberate deviations of one paper each."""

CATALOGUE = {
    "demo": "ludens.suites.demo:SUITE",
}
