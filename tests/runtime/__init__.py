"""The runtime that engines import as `cuda`, from outside."""
