"""A server with pretended calls, on a thread of its own: what tests the browser meets."""

import asyncio
import threading

import pytest
from serve.fake_call import FakeCalls

from weir_calls.serve.models import Models
from weir_calls.serve.server import ServeOptions, Server
from weir_calls.serve.setup_description import offered_scenarios


class RunningServer:
    """A server in an event loop of its own thread."""

    def __init__(self, out, calls, models, inputs=(), port=0):
        self.out, self.calls, self.models, self.inputs, self._port = out, calls, models, inputs, port
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server = self._do(self._start())
        self.url, self.port = self._server.url, self._server.port

    async def _start(self):
        server = Server(
            ServeOptions(offered_scenarios(self.inputs), self.out, self.calls.backend(), Models(self.models)),
            self._port,
        )
        await server.start()
        return server

    def _do(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    def close(self, hurry=None):
        """Returns False if a call was not measured."""
        if self._thread.is_alive():
            measured = self._do(self._server.close(hurry))
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
            self._loop.close()
            return measured
        return True


@pytest.fixture
def calls():
    return FakeCalls()


@pytest.fixture
def server(tmp_path, calls):
    (tmp_path / "models").mkdir()
    running = RunningServer(tmp_path / "calls", calls, tmp_path / "models")
    yield running
    # Nobody needs the measures of a call that still runs.
    hurry = asyncio.Event()
    hurry.set()
    running.close(hurry)
