import os
import tempfile
from pathlib import Path

import pytest
from cluster import Cluster


@pytest.fixture
def two_nodes():
    """A cluster of two nodes; the second can be killed."""
    programs = os.environ.get("WEIR_DISTRIBUTED")
    if not programs:
        pytest.skip("needs Ray: make test-distributed")
    # Names of sockets may not be longer than 107 bytes, so not pytest's folder.
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp") as folder:
        nodes = Cluster(Path(programs).absolute(), Path(folder))
        try:
            nodes.start()
            nodes.start()
            yield nodes
        finally:
            nodes.close()
