"""What the name of a vLLM model does not say: which files lie in the folder that it names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

__all__ = ["longest_context", "model_folder_digest"]

_READ_WHOLE = {".json", ".jinja", ".txt", ".model"}
_WEIGHTS = {".safetensors", ".bin", ".pt", ".gguf"}
_HEAD = 1 << 20


def model_folder_digest(name: str) -> str:
    """SHA-256 that stands for a local model folder; ``""`` for a name that is no folder.

    Configuration and tokeniser are read whole; of each file of weights the size, the first and the
    last mebibyte, so that a model of many gigabytes costs no more than a small one. Weights that
    differ only in between are not told apart.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return ""
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix in _READ_WHOLE | _WEIGHTS:
            digest.update(f"{path.name}:{path.stat().st_size}:".encode())
            digest.update(path.read_bytes() if path.suffix in _READ_WHOLE else _ends_of(path))
    return digest.hexdigest()


def _ends_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        stream.seek(max(0, path.stat().st_size - _HEAD))
        return head + stream.read(_HEAD)


def longest_context(name: str) -> int | None:
    """Tokens that a local model folder's configuration allows, or ``None`` where it does not say."""
    try:
        config = json.loads((Path(name).expanduser() / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):  # a hub's name: vLLM reads its configuration itself
        return None
    length = config.get("max_position_embeddings") if isinstance(config, dict) else None
    return length if isinstance(length, int) else None
