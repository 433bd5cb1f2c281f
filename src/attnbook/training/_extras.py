"""Packages that only some of the training needs: imported at their use, named where missing."""

from importlib import import_module
from typing import Any


def extra(module: str, what: str) -> Any:
    """Import ``module``, which ``what`` needs.

    Raises: ImportError where its package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(
            f'{what} needs the package {package}: pip install "attnbook[lectures]"'
        ) from error
