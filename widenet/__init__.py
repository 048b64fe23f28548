"""What a wide neural network can learn from your data, before and without training one.

The public names stand in `__init__.pyi`, where type checkers see them with their types. Each is imported when
it is first used, so that `import widenet` stays light.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _homes() -> dict[str, str]:
    """The module of each public name, as the stub beside this file lists them."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    return {alias.name: str(node.module) for node in imports for alias in node.names}


_HOMES = _homes()
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("widenet")
    if name not in _HOMES:
        raise AttributeError(f"module 'widenet' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    return globals().get(name, value)  # `audit` is a folder, too, which is called like the function


def __dir__() -> list[str]:
    return __all__
