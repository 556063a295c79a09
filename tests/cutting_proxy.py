"""A relay before a server that cuts a connection at a chosen statement, with or without letting it through."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

__all__ = ["CuttingProxy"]


class CuttingProxy:
    """Relays to a port of this machine; each time that ``n_cuts`` is above 0, the next ``word`` cuts its connection.

    Parameters
    ----------
    word
        What a client's message must hold to be cut.
    lets_through
        Whether the server still gets that message; its answer never arrives.
    """

    def __init__(self, port: int, *, word: bytes = b"COMMIT", lets_through: bool = True) -> None:
        self.n_cuts = 0
        self._server_port, self._word, self._lets_through = port, word, lets_through
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(timeout=5)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", self._server_port))
            for source, target in ((client, server), (server, client)):
                relay = threading.Thread(target=self._relay, args=(source, target, source is client), daemon=True)
                self._threads.append(relay)
                relay.start()

    def _relay(self, source: socket.socket, target: socket.socket, from_client: bool) -> None:
        try:
            while data := source.recv(65536):
                if from_client and self.n_cuts > 0 and self._word in data:
                    self.n_cuts -= 1
                    # First of all the way back: the answer to what is let through must not come.
                    source.shutdown(socket.SHUT_RDWR)
                    if self._lets_through:
                        target.sendall(data)
                    break
                target.sendall(data)
        except OSError:
            pass
        finally:
            # The other direction may wait in recv: closing alone would not end that.
            with suppress(OSError):
                target.shutdown(socket.SHUT_WR)
            if not from_client:
                for end in (source, target):
                    end.close()
