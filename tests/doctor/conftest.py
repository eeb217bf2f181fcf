"""The fake kernels of the capture's tests."""

from tests.capture.conftest import family

__all__ = ["family"]
