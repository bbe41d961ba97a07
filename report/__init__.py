"""The technical report of Ludens: `make report` builds it.

All tables and figures are made here, from what the package and the repository store; the prose is in
`report.typ`, which reads them from `data.json` and contains no table of its own.
"""
