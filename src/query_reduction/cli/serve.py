"""qrn serve"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from query_reduction.cli.arguments import POSITIONAL
from query_reduction.cli.output import notes, print_json
from query_reduction.errors import InputError
from query_reduction.serve.limits import Limits
from query_reduction.settings import Between

__all__ = ["Serve"]


@dataclass(frozen=True)
class Serve:
    """Serve trained models: a web page to query and inspect them, and a JSON API.

    Without a model all ready models are served. Ctrl-C or SIGTERM ends the server after the requests in flight.
    """

    models: Annotated[tuple[str, ...], POSITIONAL] = ()
    """Model files, folders of training runs (or folders of those), or names of ready models."""
    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 accepts connections from other machines."""
    port: Annotated[int, Between(0, 65535)] = 8080
    """The port to listen on; 0 takes a free one."""
    proxy: str = ""
    """The address of a reverse proxy on this or another machine; the clients it names in X-Forwarded-For take turns."""
    json: bool = False
    """Print where it listens, and the models, as one JSON object."""
    limits: Limits = field(default_factory=Limits)

    def run(self) -> int:
        """Serve until interrupted."""
        try:
            from query_reduction.serve.server import serve
        except ImportError as error:
            raise InputError("serving needs FastAPI and uvicorn: pip install 'query-reduction[serve]'") from error
        from query_reduction.serve.catalog import load_models

        models = load_models(self.models)

        def announce(address: str) -> None:
            if self.json:
                print_json({"address": address, "models": list(models)})
            else:
                notes.print(f"{', '.join(models)}: open {address} (API: {address}docs; Ctrl-C ends)", markup=False)

        serve(models, self.host, self.port, self.limits, announce, proxy=self.proxy)
        return 0
