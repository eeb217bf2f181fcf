"""The small set of the report's tests, and its copies that lack something."""

from tests.report.conftest import captured, planning, without

__all__ = ["captured", "planning", "without"]
