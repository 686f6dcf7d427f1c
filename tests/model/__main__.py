"""``python -m tests.model``; the work is in ``tests.model.run``, which worker processes can import."""

import sys

from tests.model.run import main

if __name__ == "__main__":
    sys.exit(main())
