"""How often a real decline is doubted and an invented one caught, and what a look costs.

    python benchmarks/bench_grounding.py [--list]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import _paths  # noqa: F401
