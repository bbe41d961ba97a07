"""Adapters: Ludens inside the tools that people already use. Each module needs the extra of its name.

Nothing here is imported by `import ludens`. Tests are in `tests/adapters`; `make adapters` runs them,
each in an environment of its own, because some of these packages cannot be installed together.
"""

from __future__ import annotations
