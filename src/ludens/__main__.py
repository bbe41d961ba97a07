"""`python -m ludens` is `ludens`."""

import sys

from ludens.cli import main

sys.exit(main())
