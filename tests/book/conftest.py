from tests.widgets.conftest import chromium

__all__ = ["chromium"]
